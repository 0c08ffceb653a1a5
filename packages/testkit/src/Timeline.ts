/** What happened, tick by tick, one line of fixed columns per event: for failures and snapshots. */
import type * as Tick from "@kelpie/herder/Tick"

/** Collects lines. */
export interface Timeline {
  readonly add: (now: number, outcome: Tick.Outcome) => void
  readonly lines: () => ReadonlyArray<string>
}

const column = (text: string, width: number): string => text.padEnd(width)

/** Milliseconds, what, machine or word, from and to. */
const line = (now: number, subject: string, what: string, detail: string): string =>
  `${`${now}`.padStart(10)}  ${column(subject, 20)} ${column(what, 16)} ${detail}`.trimEnd()

/** An empty timeline. */
export const make = (): Timeline => {
  const lines: Array<string> = []
  return {
    lines: () => [...lines],
    add: (now, outcome) => {
      for (const { connector, event, from, machine, task, to } of outcome.transitions) {
        const subject = task === undefined ? connector : `${connector}-${task}`
        lines.push(line(now, subject, machine, `${from} -> ${to} (${event})`))
      }
      for (const event of outcome.events) {
        if (event._tag !== "StatusChanged") continue
        const subject = event.task === undefined ? event.connector : `${event.connector}-${event.task}`
        lines.push(line(now, subject, "status", `${event.from} -> ${event.to}`))
      }
    }
  }
}
