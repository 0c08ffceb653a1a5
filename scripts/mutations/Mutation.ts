/** One way to break the runtime, as data, and how it is put into a text. */

/** What may notice that the runtime is broken: a test file from the root of the repository, or the simulation. */
export type Suite = `${string}.test.ts` | "simulate"

/** A known way to break the runtime. */
export interface Mutation {
  /** What is broken, in few words; unique. */
  readonly name: string
  /** The invariant (I1 ...) or the law of reconfiguration that it breaks, or another promise. */
  readonly breaks: string
  /** From the root of the repository. */
  readonly file: string
  /** A text that stands exactly once in the file. */
  readonly find: string
  readonly replace: string
  /** Asked one after the other until one notices; the narrowest first. */
  readonly suites: readonly [Suite, ...ReadonlyArray<Suite>]
}

/** Why a mutation cannot be put into the text of its file, or `undefined` when it can. */
export const refusal = ({ find, replace }: Mutation, text: string): string | undefined => {
  const count = text.split(find).length - 1
  if (count !== 1) return `its text stands ${count} times in the file, it has to stand once`
  return find === replace ? "it replaces its text by the same text" : undefined
}

/** The broken text. */
export const apply = ({ find, replace }: Mutation, text: string): string => text.replace(find, () => replace)
