/** What people call an operation: `StartTask of orders-0`. */
import * as Item from "../Item.ts"
import type * as Operation from "../Operation.ts"

/** Names the operation and its connector or task. Holds no value of a configuration. */
export const describe = (operation: Operation.Operation): string => {
  if (operation.connector === "") return operation._tag
  const item = "task" in operation
    ? Item.task(operation.connector, operation.task)
    : Item.connector(operation.connector)
  return `${operation._tag} of ${Item.format(item)}`
}
