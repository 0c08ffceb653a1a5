/** A persistent queue: first in, first out; both ends in constant time, amortised. */

interface Cell<A> {
  readonly head: A
  readonly tail: Cell<A> | undefined
}

/** The queue. */
export interface Fifo<A> {
  readonly front: Cell<A> | undefined
  readonly back: Cell<A> | undefined
}

/** Nothing in it. */
export const empty: Fifo<never> = { front: undefined, back: undefined }

/** With one more at its end. */
export const push = <A>(self: Fifo<A>, value: A): Fifo<A> => ({
  front: self.front,
  back: { head: value, tail: self.back }
})

/** The first and the rest; `undefined` when empty. */
export const pop = <A>(self: Fifo<A>): readonly [first: A, rest: Fifo<A>] | undefined => {
  if (self.front !== undefined) return [self.front.head, { front: self.front.tail, back: self.back }]
  let front: Cell<A> | undefined
  for (let cell = self.back; cell !== undefined; cell = cell.tail) front = { head: cell.head, tail: front }
  return front === undefined ? undefined : [front.head, { front: front.tail, back: undefined }]
}
