import { assert, describe, it } from "@effect/vitest"
import { Machine } from "@kelpie/core"

type State = { readonly _tag: "Off" } | { readonly _tag: "On"; readonly since: number } | { readonly _tag: "Broken" }
type Event = { readonly _tag: "Press" } | { readonly _tag: "Burn" } | { readonly _tag: "Cool"; readonly by: number }
type Command = { readonly _tag: "Light" } | { readonly _tag: "Darken" }

const lamp = Machine.make<State, Event, number, Command>("lamp", ({ illegal, stay, to }) => ({
  Off: {
    Press: to("On")((_, __, now) => [{ _tag: "On", since: now }, [{ _tag: "Light" }]]),
    Burn: illegal("a lamp that is off does not burn out"),
    Cool: stay
  },
  On: {
    Press: to("Off")(() => [{ _tag: "Off" }, [{ _tag: "Darken" }]]),
    Burn: to("Broken")(() => [{ _tag: "Broken" }, []]),
    Cool: to("On", "Off")((on, { by }) => by > 10 ? [{ _tag: "Off" }, []] : [on, []])
  },
  Broken: { Press: stay, Burn: stay, Cool: stay }
}))

describe("Machine", () => {
  it("moves by its table and gives the commands of the edge", () => {
    const [on, light] = lamp.step({ _tag: "Off" }, { _tag: "Press" }, 7)
    assert.deepStrictEqual(on, { _tag: "On", since: 7 })
    assert.deepStrictEqual(light, [{ _tag: "Light" }])
    const [off, darken] = lamp.step(on, { _tag: "Press" }, 8)
    assert.deepStrictEqual(off, { _tag: "Off" })
    assert.deepStrictEqual(darken, [{ _tag: "Darken" }])
  })

  it("gives the fields of state and event to the edge, which chooses among the states it names", () => {
    const on: State = { _tag: "On", since: 1 }
    assert.deepStrictEqual(lamp.step(on, { _tag: "Cool", by: 5 }, 2), [on, []])
    assert.deepStrictEqual(lamp.step(on, { _tag: "Cool", by: 50 }, 2), [{ _tag: "Off" }, []])
  })

  it("keeps the very same state where an event is ignored", () => {
    const broken: State = { _tag: "Broken" }
    const [state, commands] = lamp.step(broken, { _tag: "Press" }, 1)
    assert.strictEqual(state, broken)
    assert.deepStrictEqual(commands, [])
  })

  it("names machine, event, state and reason when the impossible happens", () => {
    assert.throws(
      () => lamp.step({ _tag: "Off" }, { _tag: "Burn" }, 1),
      "lamp: Burn in Off: a lamp that is off does not burn out"
    )
  })

  it("refuses a state or an event that came from elsewhere", () => {
    const strange = { _tag: "Melted" } as unknown as State
    assert.throws(() => lamp.step(strange, { _tag: "Press" }, 1), "lamp: no edge for Press in Melted")
  })

  it("lists every edge that moves, with each state it may lead to", () => {
    assert.deepStrictEqual(lamp.edges, [
      { from: "Off", event: "Press", to: "On" },
      { from: "On", event: "Press", to: "Off" },
      { from: "On", event: "Burn", to: "Broken" },
      { from: "On", event: "Cool", to: "On" },
      { from: "On", event: "Cool", to: "Off" }
    ])
  })

  it("draws itself", () => {
    assert.strictEqual(
      lamp.toMermaid(),
      [
        "stateDiagram-v2",
        "  Off --> On: Press",
        "  On --> Off: Press",
        "  On --> Broken: Burn",
        "  On --> On: Cool",
        "  On --> Off: Cool"
      ].join("\n")
    )
  })
})
