/**
 * Transition tables: every (state, event) pair has an edge, every edge says where it may lead.
 *
 * A pair without an edge, and an edge that returns a state it does not name, do not compile. The same table runs, is drawn
 * and is counted.
 */

/** A state or an event. */
export interface Tagged {
  readonly _tag: string
}
/** The state after an event, and the commands that follow from it. */
export type Step<State, Command> = readonly [state: State, commands: ReadonlyArray<Command>]

/** What one event does in one state. */
export interface Edge<in S, in E, in C, out Next, out Command> {
  readonly to: ReadonlyArray<string> | "stay" | "illegal"
  readonly run: (state: S, event: E, context: C) => Step<Next, Command>
}

/** One edge for every state and every event. */
export type Table<State extends Tagged, Event extends Tagged, C, Command> = {
  readonly [S in State["_tag"]]: {
    readonly [E in Event["_tag"]]: Edge<Extract<State, { _tag: S }>, Extract<Event, { _tag: E }>, C, State, Command>
  }
}

/** The words a table is written with. */
export interface Words<State extends Tagged, C, Command> {
  /** Leads to one of the named states. */
  readonly to: <const T extends State["_tag"]>(...tags: readonly [T, ...ReadonlyArray<T>]) => <S, E>(
    run: (state: S, event: E, context: C) => Step<Extract<State, { _tag: T }>, Command>
  ) => Edge<S, E, C, Extract<State, { _tag: T }>, Command>
  /** Nothing changes and nothing is done. */
  readonly stay: Edge<State, unknown, C, State, never>
  /** Cannot happen: a defect that names state and event. The reason is part of the table. */
  readonly illegal: (reason: string) => Edge<unknown, unknown, C, never, never>
}

/** A table that runs. `step` throws for what its table calls illegal: that is a bug of whoever sent the event. */
export interface Machine<State extends Tagged, Event extends Tagged, C, Command> {
  readonly name: string
  readonly step: (state: State, event: Event, context: C) => Step<State, Command>
  readonly edges: ReadonlyArray<
    { readonly from: State["_tag"]; readonly event: Event["_tag"]; readonly to: State["_tag"] }
  >
  readonly toMermaid: () => string
}

const stay: Edge<any, any, any, any, never> = { to: "stay", run: (state) => [state, []] }

/** Makes a machine from its table. */
export const make = <State extends Tagged, Event extends Tagged, C, Command>(
  name: string,
  define: (words: Words<State, C, Command>) => Table<State, Event, C, Command>
): Machine<State, Event, C, Command> => {
  const table = define({
    to: (...tags) => (run) => ({ to: tags, run }),
    stay,
    illegal: (reason) => ({
      to: "illegal",
      run: (state, event) => {
        throw new Error(`${name}: ${(event as Tagged)._tag} in ${(state as Tagged)._tag}: ${reason}`)
      }
    })
  }) as Record<string, Record<string, Edge<any, any, any, any, any>>>
  const edges = Object.entries(table).flatMap(([from, row]) =>
    Object.entries(row).flatMap(([event, edge]) =>
      typeof edge.to === "string" ? [] : edge.to.map((to) => ({ from, event, to }))
    )
  )
  return {
    name,
    edges,
    step: (state, event, context) => {
      const edge = table[state._tag]?.[event._tag]
      if (edge === undefined) throw new Error(`${name}: no edge for ${event._tag} in ${state._tag}`)
      return edge.run(state, event, context)
    },
    toMermaid: () =>
      ["stateDiagram-v2", ...edges.map((edge) => `  ${edge.from} --> ${edge.to}: ${edge.event}`)].join("\n")
  }
}
