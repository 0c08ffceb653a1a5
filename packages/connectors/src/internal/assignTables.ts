/** Splits tables over tasks so that a table that comes or goes changes as few task configs as possible. */

/**
 * The split that follows the previous one. Tables are given in the order of their creation.
 *
 * Without a previous split table i goes to task i mod n, where n grows with the tables up to `max`; so a new table, which is
 * the last one, adds a task or changes one, also when the previous split is forgotten. A dropped table changes its own task;
 * if that has none left, the next new table takes the place, or else the last task's tables do.
 */
export const assignTables = (
  previous: ReadonlyArray<ReadonlyArray<string>>,
  tables: ReadonlyArray<string>,
  max: number
): ReadonlyArray<ReadonlyArray<string>> => {
  const present = new Set(tables)
  const groups = previous.slice(0, max).map((group) => group.filter((table) => present.has(table)))
  const assigned = new Set(groups.flat())
  for (const table of tables) {
    if (assigned.has(table)) continue
    const smallest = groups.reduce<Array<string> | undefined>(
      (least, group) => least === undefined || group.length < least.length ? group : least,
      undefined
    )
    if (smallest === undefined || (smallest.length > 0 && groups.length < max)) groups.push([table])
    else smallest.push(table)
  }
  for (let i = 0; i < groups.length; i++) {
    while (groups.length > i && groups[i]?.length === 0) {
      const last = groups.pop()
      if (last !== undefined && groups.length > i) groups[i] = last
    }
  }
  return groups
}
