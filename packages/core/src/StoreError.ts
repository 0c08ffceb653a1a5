/** The one error of the stores and of those who write one. */
import * as Schema from "effect/Schema"

/**
 * `Unavailable`: the engine did not answer or refused for now; a commit may or may not have happened. `Conflict`: what
 * the write was decided on is no longer so. `Fenced`: a newer owner or leader exists. `Corrupt`: what is stored cannot be
 * read, or belongs to somebody else. `Conflict` and `Fenced` are final for this write and it had no effect.
 */
export class StoreError extends Schema.TaggedError<StoreError>("@kelpie/core/StoreError")("StoreError", {
  kind: Schema.Literals(["Unavailable", "Conflict", "Fenced", "Corrupt"]),
  operation: Schema.String,
  /** What happened, for people; holds no value of a configuration. */
  detail: Schema.optionalKey(Schema.String),
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    const reason = this.detail ?? (this.cause instanceof Error ? this.cause.message : undefined)
    return `${this.operation}: ${this.kind}${reason === undefined ? "" : `: ${reason}`}`
  }
}
