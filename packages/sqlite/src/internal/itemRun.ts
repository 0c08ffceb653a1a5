/** An item with a run of it, as messages carry it. */
import * as Item from "@kelpie/core/Item"
import type { OffsetStore } from "@kelpie/core/OffsetStore"
import type { ItemRun } from "./calls.ts"

/** The message's form. */
export const toMessage = ({ item, run }: OffsetStore.ItemRun): ItemRun => ({
  item: Item.key(item),
  token: run.token,
  start: run.start
})
