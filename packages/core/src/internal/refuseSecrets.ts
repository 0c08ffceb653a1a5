/** Finds a secret inside a schema: a task config is stored and shown, so it must not hold one. */
import type * as Schema from "effect/Schema"
import type * as SchemaAST from "effect/SchemaAST"

const isRedacted = (ast: SchemaAST.AST): boolean => JSON.stringify(ast.annotations ?? {}).includes("Redacted")

const children = (ast: SchemaAST.AST): ReadonlyArray<SchemaAST.AST> => {
  switch (ast._tag) {
    case "Objects":
      return [...ast.propertySignatures.map((_) => _.type), ...ast.indexSignatures.map((_) => _.type)]
    case "Arrays":
      return [...ast.elements, ...ast.rest]
    case "Union":
      return ast.types
    case "Declaration":
      return ast.typeParameters
    case "Suspend":
      return [ast.thunk()]
    default:
      return []
  }
}

/** Throws when the schema holds a `Redacted`: a mistake of the author, found when the definition is made. */
export const refuseSecrets = (name: string, schema: Schema.Top): void => {
  const seen = new Set<SchemaAST.AST>()
  const visit = (ast: SchemaAST.AST, path: string): void => {
    if (seen.has(ast)) return
    seen.add(ast)
    if (isRedacted(ast)) {
      throw new Error(
        `${name}: the task config holds a secret${path}. Task configs are stored and shown; a task sees the connector's config, so read the secret there.`
      )
    }
    for (const child of children(ast)) visit(child, path)
  }
  visit(schema.ast, "")
}
