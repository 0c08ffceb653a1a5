/** Drops every record that it sees; a predicate decides which ones it sees. As Connect's `Filter`. */
import * as Transform from "@kelpie/core/Transform"
import { version } from "./internal/version.ts"

/** Drops records. */
export const Filter = Transform.make("Filter", {
  version,
  aliases: ["org.apache.kafka.connect.transforms.Filter"],
  doc: "Drops every record; give it a predicate to drop some of them.",
  config: {},
  apply: () => () => undefined
})
