/** Diagrams of the transition tables, as the tables themselves draw them. */
import { Lane, RunMachine } from "@kelpie/herder"
import { code, page, table } from "./markdown.ts"

interface Drawn {
  readonly edges: ReadonlyArray<{ readonly from: string; readonly event: string; readonly to: string }>
  readonly toMermaid: () => string
}

const machines: Readonly<Record<string, { readonly machine: Drawn; readonly about: string; readonly source: string }>> =
  {
    reconfiguration: {
      machine: Lane.machine,
      about: "The reconfiguration lane of a connector.",
      source: "packages/herder/src/Lane.ts"
    },
    run: {
      machine: RunMachine.machine,
      about: "The local life of a connector instance or a task on the worker that owns it.",
      source: "packages/herder/src/RunMachine.ts"
    }
  }

/** Self-loops say that something about the state changes; edges between the same two states share an arrow. */
const mermaid = ({ edges }: Drawn): string => {
  const arrows = new Map<string, Array<string>>()
  for (const { event, from, to } of edges) {
    const arrow = `${from} --> ${to}`
    const events = arrows.get(arrow)
    if (events === undefined) arrows.set(arrow, [event])
    else events.push(event)
  }
  const lines = Array.from(arrows, ([arrow, events]) => `  ${arrow}: ${events.join(", ")}`)
  return ["```mermaid", "stateDiagram-v2", "  [*] --> Idle", ...lines, "```"].join("\n")
}

/** A page for each machine. */
export const diagrams = (): ReadonlyMap<string, string> =>
  new Map(
    Object.entries(machines).map(([name, { about, machine, source }]) => [
      `docs/diagrams/${name}.md`,
      page(
        `# ${name}`,
        `${about} The table is in [${source}](../../${source}).`,
        mermaid(machine),
        table(
          ["in", "when", "leads to"],
          machine.edges.map(({ event, from, to }) => [code(from), code(event), code(to)])
        )
      )
    ])
  )

/** Fills the marked regions of a page with the present diagrams. */
export const fillDiagrams = (text: string): string =>
  text.replaceAll(
    /(<!-- diagram (\w+): [^\n]*-->\n)[^]*?(<!-- end of diagram -->)/g,
    (region, begin: string, name: string, end: string) => {
      const known = machines[name]
      return known === undefined ? region : `${begin}${mermaid(known.machine)}\n${end}`
    }
  )
