import * as v from 'valibot'
import { ASSUMPTIONS } from './assumptions.ts'
import { type CostWorld, startCostWorld } from './cost-world.ts'
import { count, type Flow } from './flow.ts'
import { type Merchant, NoFailures, newMerchant, OPERATOR, recordsOf, walkPayment } from './walk-payment.ts'

export type Measured = {
  /** For one payment: created, paid, announced to one endpoint, fetched once, its fee made final, settled. */
  readonly perPayment: readonly Flow[]
  /** For one delivery to an endpoint that always fails: eight attempts and the hops between them. */
  readonly abandoned: Flow
  /** For one run while nothing is due. */
  readonly idleRuns: readonly Flow[]
  readonly storedBytesPerPayment: number
  /** Metrics of our own that idle runs write to, and that payments of one channel add. */
  readonly series: { readonly idle: number; readonly channel: number }
}

/** Runs that serve many payments are measured with so many, and divided. */
const MANY = 50
const DAY_SECONDS = 86_400

/** Walks payments through their life on the real handlers and counts what every step uses. */
export const measureFlows = async (dynamodbEndpoint: string): Promise<Measured> => {
  await using world = await startCostWorld(dynamodbEndpoint)
  // The second run: the first one looks back over a week.
  await syncRun(world, 'sync, first run')
  const idleSync = await syncRun(world, 'sync, one run')
  const idleRuns = [
    await count(world, 'check-due-work', 'due work, one run', () => world.invoke('check-due-work', {})),
    idleSync,
    await count(world, 'sweep-settlements', 'sweep, one run', () => world.invoke('sweep-settlements', {})),
  ]
  const idleSeries = world.seriesCount()
  const merchant = await newMerchant(world)
  const before = await world.stored()

  const steps = await walkPayment(world, merchant)
  for (let more = 1; more < MANY; more++) await walkPayment(world, merchant)
  const storedBytesPerPayment = Math.round(((await world.stored()) - before) / MANY)

  const looked = await syncRun(world, 'looked at by the sync')
  // Bank channels report their final fee a business day later; funds are settled once they are 24 hours old.
  world.clock.advance(4 * DAY_SECONDS)
  const sync = await syncRun(world, 'fee made final')
  const settle = await count(world, 'settle-client', 'settled', () =>
    world.invoke('settle-client', recordsOf({ client_id: merchant.clientId })),
  )
  const series = { idle: idleSeries, channel: world.seriesCount() - idleSeries }
  const abandoned = await abandonOne(world, merchant)
  return {
    perPayment: [
      ...steps,
      times(share(beyond(idleSync, looked)), ASSUMPTIONS.syncLooks),
      share(beyond(idleSync, sync)),
      share(settled(settle)),
    ],
    abandoned,
    idleRuns,
    storedBytesPerPayment,
    series,
  }
}

const syncRun = (world: CostWorld, name: string): Promise<Flow> =>
  count(world, 'sync-provider-transactions', name, async () => {
    v.parse(v.object({ complete: v.literal(true) }), await world.invoke('sync-provider-transactions', {}))
  })

const times = (flow: Flow, factor: number): Flow => ({
  ...flow,
  invocations: flow.invocations * factor,
  reads: flow.reads * factor,
  writes: flow.writes * factor,
  messages: flow.messages * factor,
  logBytes: flow.logBytes * factor,
})

/** The part of one payment in a run that serves many. */
const share = (flow: Flow): Flow => times(flow, 1 / MANY)

/** What a scheduled run uses for the payments it looks at, beyond what it uses every hour anyhow. */
const beyond = (idle: Flow, flow: Flow): Flow => ({
  ...flow,
  invocations: 0,
  reads: Math.max(0, flow.reads - idle.reads),
  writes: Math.max(0, flow.writes - idle.writes),
  logBytes: Math.max(0, flow.logBytes - idle.logBytes),
})

/** A run that found nothing to settle writes nothing, and would be no measurement. */
const settled = (flow: Flow): Flow => {
  if (flow.writes === 0) throw new Error('nothing was settled')
  return flow
}

/** More hops than eight attempts can need: a delivery that is not over by then has no end. */
const MOST_HOPS = 40

const abandonOne = async (world: CostWorld, { clientId, endpointId }: Merchant): Promise<Flow> => {
  world.merchant.answers = 500
  await world.invoke('send-test-event', { operator: OPERATOR, client_id: clientId, endpoint_id: endpointId })
  let invocations = 0
  const flow = await count(world, 'deliver-webhook', 'a delivery given up', async () => {
    let next = world.sent.at(-1)
    while (next) {
      if (++invocations > MOST_HOPS) throw new Error('the delivery never ends')
      world.clock.advance(next.message.delaySeconds)
      const before = world.sent.length
      v.parse(NoFailures, await world.invoke('deliver-webhook', recordsOf(next.message.body)))
      next = world.sent[before]
    }
  })
  return { ...flow, invocations, messages: flow.messages + 1 }
}
