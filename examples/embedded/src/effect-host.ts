/**
 * A host application with Effect: a shop whose orders flow through connectors. The shop's own service, routes and
 * middleware stand beside Kelpie's, in one `Layer` expression.
 */
import { NodeHttpServer, NodeRuntime } from "@effect/platform-node"
import { ConfigKey, Middleware, Plugins, SinkConnector, SourceConnector } from "@kelpie/core"
import { Herder } from "@kelpie/herder"
import { Rest } from "@kelpie/rest"
import { Context, Effect, Layer, Option, Schema, Stream, SubscriptionRef } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer } from "node:http"

/** An order; ids count from 1. */
export const Order = Schema.Struct({ id: Schema.Int, item: Schema.String })
export type Order = typeof Order.Type

/** The service that the shop has anyway. */
export class Orders extends Context.Service<Orders, {
  readonly place: (item: string) => Effect.Effect<Order>
  /** Those after an id, and those to come. */
  readonly after: (id: number) => Stream.Stream<ReadonlyArray<Order>>
  readonly ship: (order: Order) => Effect.Effect<void>
  readonly shipped: Effect.Effect<ReadonlyArray<Order>>
}>()("shop/Orders") {
  static readonly layer = Layer.effect(this)(Effect.gen(function*() {
    const placed = yield* SubscriptionRef.make<ReadonlyArray<Order>>([])
    const shipped: Array<Order> = []
    return {
      place: (item) =>
        SubscriptionRef.modify(placed, (orders) => [
          { id: orders.length + 1, item },
          [...orders, { id: orders.length + 1, item }]
        ]),
      after: (id) =>
        SubscriptionRef.changes(placed).pipe(
          Stream.mapAccum(() => id, (seen, orders) => [orders.length, [orders.slice(seen)]]),
          Stream.filter((orders) => orders.length > 0)
        ),
      ship: (order) => Effect.sync(() => void shipped.push(order)),
      shipped: Effect.sync(() => [...shipped])
    }
  }))
}

/** Gives every order as a record. It needs the shop's service, and the compiler asks whoever runs it for that. */
export const OrdersSource = SourceConnector.make("OrdersSource", {
  version: "1.0.0",
  config: { topic: ConfigKey.String("topic", { default: "orders", doc: "Topic to write to" }) },
  offset: Schema.Struct({ id: Schema.Int }),
  task: ({ config, offsets }) =>
    Stream.unwrap(Effect.gen(function*() {
      const stored = Option.getOrElse(yield* offsets.get(), () => ({ id: 0 }))
      return Stream.map((yield* Orders).after(stored.id), (orders) => ({
        records: orders.map((order) => ({ topic: config.topic, key: order.id, value: order })),
        offset: { id: orders.at(-1)?.id ?? stored.id }
      }))
    }))
})

/** Ships what comes. */
export const ShippingSink = SinkConnector.make("ShippingSink", {
  version: "1.0.0",
  config: {},
  value: Order,
  task: Effect.fnUntraced(function*() {
    const { ship } = yield* Orders
    return { put: (records) => Effect.forEach(records, ({ value }) => ship(value), { discard: true }) }
  })
})

/** Around every batch that a sink is given. */
const logged = Middleware.on("PutSink", ({ connector }, next) => Effect.tap(next, Effect.logInfo(`to ${connector}`)))

const Runtime = Herder.layerMemory.pipe(
  Layer.provide([Plugins.layer([OrdersSource, ShippingSink]), Middleware.layer([logged])])
)
const Connect = Rest.layer({ prefix: "/connect" }).pipe(Layer.provide(Runtime))

const ShopRoutes = HttpRouter.use(Effect.fnUntraced(function*(router) {
  const orders = yield* Orders
  const place = Effect.gen(function*() {
    const { item } = yield* HttpServerRequest.schemaBodyJson(Schema.Struct({ item: Schema.String }))
    return yield* HttpServerResponse.json(yield* orders.place(item), { status: 201 })
  })
  yield* router.add("POST", "/orders", place)
  yield* router.add("GET", "/shipped", Effect.flatMap(orders.shipped, HttpServerResponse.json))
}))

/** The shop's routes, and the connectors' below `/connect`. */
export const Routes = Layer.mergeAll(ShopRoutes, Connect).pipe(Layer.provide(Orders.layer))

if (import.meta.main) {
  HttpRouter.serve(Routes).pipe(
    Layer.provide(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 8080 })),
    Layer.launch,
    NodeRuntime.runMain
  )
}
