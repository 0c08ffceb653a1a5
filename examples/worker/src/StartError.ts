/** Why the worker cannot start, in one line for people. */
import type { StoreError } from "@kelpie/core/StoreError"
import * as CliError from "effect/cli/CliError"
import * as Schema from "effect/Schema"

/** Something that only whoever starts the worker can put right. The command shows the message, and no trace. */
export class StartError extends Schema.TaggedError<StartError>("@kelpie-examples/worker/StartError")("StartError", {
  message: Schema.String,
  cause: Schema.Defect()
}) {
  override get [CliError.userMessage]() {
    return this.message
  }

  /** The stores say what is wrong with which file, and who holds a directory. */
  static readonly fromStore = (cause: StoreError): StartError =>
    new StartError({ message: cause.detail ?? cause.message, cause })
}
