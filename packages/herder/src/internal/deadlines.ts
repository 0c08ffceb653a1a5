/**
 * A persistent index of deadlines: a pairing heap, earliest first. A deadline that is no longer wanted stays until it
 * comes to the top; whoever takes it looks whether it still counts.
 */

/** When a key is to be looked at. */
export interface Deadline {
  /** Epoch milliseconds. */
  readonly at: number
  readonly key: string
}

interface Tree {
  readonly deadline: Deadline
  readonly children: Siblings | undefined
}
interface Siblings {
  readonly node: Tree
  readonly next: Siblings | undefined
}

/** The index. */
export interface Deadlines {
  readonly root: Tree | undefined
}

/** No deadline. */
export const empty: Deadlines = { root: undefined }

const meld = (a: Tree, b: Tree): Tree =>
  a.deadline.at <= b.deadline.at
    ? { deadline: a.deadline, children: { node: b, next: a.children } }
    : { deadline: b.deadline, children: { node: a, next: b.children } }

/** With one more deadline. */
export const add = (self: Deadlines, at: number, key: string): Deadlines => {
  const node: Tree = { deadline: { at, key }, children: undefined }
  return { root: self.root === undefined ? node : meld(self.root, node) }
}

/** The earliest. */
export const first = (self: Deadlines): Deadline | undefined => self.root?.deadline

/** Without the earliest. */
export const rest = (self: Deadlines): Deadlines => {
  const pairs: Array<Tree> = []
  let child: Siblings | undefined = self.root?.children
  while (child !== undefined) {
    const second: Siblings | undefined = child.next
    pairs.push(second === undefined ? child.node : meld(child.node, second.node))
    child = second?.next
  }
  const root = pairs.reduceRight<Tree | undefined>((all, node) => all === undefined ? node : meld(node, all), undefined)
  return { root }
}
