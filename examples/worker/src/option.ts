/** An option of a command that is given as a flag or by the environment. */
import * as CliError from "effect/cli/CliError"
import * as Flag from "effect/cli/Flag"
import * as Config from "effect/Config"
import * as Effect from "effect/Effect"
import * as Option from "effect/Option"
import type * as Schema from "effect/Schema"

/** Name, form and documentation of an option. */
export interface OptionSpec<A extends I, I> {
  /** In words with dashes: `data-dir` is `--data-dir` and `KELPIE_DATA_DIR`. */
  readonly name: string
  readonly schema: Schema.Codec<A, I>
  readonly description: string
}

/** The flag, or else its variable `KELPIE_<NAME>`, or else nothing. Flag and variable are checked by one schema. */
export const option = <A extends I, I>(flag: (name: string) => Flag.Flag<I>, spec: OptionSpec<A, I>) => {
  const variable = `KELPIE_${spec.name.replaceAll("-", "_").toUpperCase()}`
  return flag(spec.name).pipe(
    Flag.withSchema(spec.schema),
    Flag.map(Option.some),
    Flag.withDefault(
      Effect.mapError(Config.option(Config.schema(spec.schema, variable)), (error) =>
        // the first line says what is wrong, the others where
        new CliError.UserError({ cause: error, userMessage: `${variable}: ${error.cause.message.split("\n")[0]}` }))
    ),
    Flag.withDescription(`${spec.description} [${variable}]`)
  )
}

/** The same with a value for when neither is given. */
export const optionOr = <A extends I, I extends string | number | boolean>(
  flag: (name: string) => Flag.Flag<I>,
  spec: OptionSpec<A, I> & { readonly otherwise: A }
) =>
  Flag.map(
    option(flag, { ...spec, description: `${spec.description} Default ${String(spec.otherwise)}.` }),
    Option.getOrElse(() => spec.otherwise)
  )
