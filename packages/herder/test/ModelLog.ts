/** A config log that is nothing but its state: decisions of the leader are committed at once, each record at its own place. */
import { ClusterState, type ConfigRecord, type LeaderCommand, type Membership } from "@kelpie/core"
import { LeaderDecision, Placement } from "@kelpie/herder"

type Command = LeaderCommand.LeaderCommand

/** An item whose owner is asked to let go. */
export interface Open {
  readonly connector: string
  readonly task?: number
  readonly position: number
  readonly session: string
}

/** The command that confirms releases. */
export const confirmation = (items: ReadonlyArray<Open>): Command => ({
  _tag: "ConfirmRelease",
  items: items.map(({ connector, position, task }) => ({
    connector,
    position,
    ...(task === undefined ? {} : { task })
  }))
})

/** A member that can run everything. */
export const member = (session: string, more: Partial<Membership.Member> = {}): Membership.Member => ({
  workerId: `${session}:8083`,
  session,
  ...more
})

/** The log. */
export class ModelLog {
  state = ClusterState.empty
  members: ReadonlyArray<Membership.Member> = []
  #incarnations = 0

  constructor(sessions: ReadonlyArray<string>) {
    this.sessions = sessions
  }

  get sessions(): ReadonlyArray<string> {
    return this.members.map(({ session }) => session)
  }

  /** Members that can run everything. */
  set sessions(sessions: ReadonlyArray<string>) {
    this.members = sessions.map((session) => member(session))
  }

  /** What the leader decides on the present state; every call would create another incarnation. */
  decide(command: Command): ReturnType<typeof LeaderDecision.decide> {
    this.#incarnations++
    return LeaderDecision.decide(this.state, command, {
      members: this.members,
      incarnation: `i${this.#incarnations}`
    })
  }

  /** Decides and commits. Gives the keys that were written; a refusal throws. */
  send(command: Command): ReadonlyArray<string> {
    const decision = this.decide(command)
    if (decision._tag === "Failure") throw decision.failure
    return this.commit(decision.success.writes)
  }

  /** Decides and commits, if it is not refused. */
  offer(command: Command): ReadonlyArray<string> {
    const decision = this.decide(command)
    return decision._tag === "Failure" ? [] : this.commit(decision.success.writes)
  }

  /** Decides what has to be refused, and gives the kind of the refusal. */
  refusal(command: Command): LeaderCommand.LeaderError["kind"] | undefined {
    const decision = this.decide(command)
    return decision._tag === "Failure" ? decision.failure.kind : undefined
  }

  /** A new leader starts. */
  recover(): ReadonlyArray<string> {
    const ended = LeaderDecision.owners(this.state).filter((session) => !this.sessions.includes(session))
    return this.commit(LeaderDecision.recover(this.state, this, "cluster-1", new Set(ended)))
  }

  commit(writes: ReadonlyArray<ConfigRecord.Write>): ReadonlyArray<string> {
    for (const write of writes) this.state = Placement.write(this.state, write, this.state.position + 1)
    return writes.map((write) => write.key)
  }

  /** Confirms every release that the sessions were asked for, one item of a command after the other or all at once. */
  confirmAll(sessions: ReadonlyArray<string> = this.sessions): ReadonlyArray<string> {
    const items = this.releasing().filter((item) => sessions.includes(item.session))
    return items.length === 0
      ? []
      : this.send(confirmation(items))
  }

  /** Every item whose owner is asked to let go. */
  releasing(): ReadonlyArray<Open> {
    const names = new Set([...this.state.placements].map(([name]) => name))
    return [...names].flatMap((connector) =>
      [...ClusterState.placements(this.state, connector)].flatMap(([item, record]) =>
        record._tag !== "Releasing"
          ? []
          : [{
            connector,
            ...(item === "connector" ? {} : { task: item }),
            position: record.position,
            session: record.session
          }]
      )
    )
  }

  /** Who owns what: `a` for an owner, `a->` for one that is asked to let go, `-` for what is released. */
  placed(name: string): Record<string, string> {
    return Object.fromEntries(
      [...ClusterState.placements(this.state, name)].map(([item, record]) => [
        `${item}`,
        record._tag === "Owned" ? record.session : record._tag === "Releasing" ? `${record.session}->` : "-"
      ])
    )
  }
}
