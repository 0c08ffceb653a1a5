/**
 * The id under which a change is sent, for whoever may ask for the same change again: the second time it has no further effect
 * and gives the first answer, for ten minutes (I10). Left out: each change is one of its own.
 */
import * as Context from "effect/Context"

/** Provide it around one operation of `Herder`. */
export const CommandId: Context.Reference<string | undefined> = Context.Reference<string | undefined>(
  "@kelpie/herder/CommandId",
  { defaultValue: () => undefined }
)
