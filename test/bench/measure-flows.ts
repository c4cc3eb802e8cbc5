import * as v from 'valibot'
import { DAY_MS, MINUTE_MS } from '../../shared/time.ts'
import { NO_FAULTS } from '../simulation/world/faults.ts'
import { operate } from '../simulation/world/lambda.ts'
import { drive } from '../simulation/world/world.ts'
import { ASSUMPTIONS } from './assumptions.ts'
import { storedBytes } from './meter-table.ts'
import { type Flow, type MeteredWorld, startMeteredWorld } from './metered-world.ts'
import { deliverNext, type MeteredMerchant, startMerchant, walkPayment } from './walk-payment.ts'

export type Measured = {
  /** For one payment: created, paid, announced to one endpoint, fetched once, its fee made final, settled. */
  readonly perPayment: readonly Flow[]
  /** For one delivery to an endpoint that always fails: eight attempts and the hops between them. */
  readonly abandoned: Flow
  /** For one run while nothing is due. */
  readonly idleRuns: readonly Flow[]
  readonly storedBytesPerPayment: number
  /** For one payment that is not paid: created, expired, announced to one endpoint. */
  readonly perUnpaid: readonly Flow[]
  readonly storedBytesPerUnpaid: number
}

/** Runs that serve many payments are measured with so many, and divided. */
const MANY = 200

/** Walks payments through their life on the real handlers and counts what every step uses. */
export const measureFlows = async (): Promise<Measured> => {
  const metered = await startMeteredWorld()
  const { world, measure, run, pass } = metered
  // The second run: the first one looks back over a week.
  await syncRun(metered, 'sync, first run')
  const idleSync = await syncRun(metered, 'sync, one run')
  const idleRuns = [
    await measure('check-due-work', 'due work, one run', () => run('check-due-work', {})),
    idleSync,
    await measure('sweep-settlements', 'sweep, one run', () => run('sweep-settlements', {})),
  ]
  const walked = await startMerchant(metered)
  const before = storedBytes(world.table)
  const steps = await walkPayment(walked, 'payment-1')
  for (let number = 2; number <= MANY; number++) await walkPayment(walked, `payment-${number}`)
  const storedBytesPerPayment = Math.round((storedBytes(world.table) - before) / MANY)

  const looked = await syncRun(metered, 'looked at by the sync')
  // Bank channels report their final fee a business day later; funds are settled once they are 24 hours old.
  await pass(4 * DAY_MS)
  const sync = await syncRun(metered, 'fee made final')
  const Records = [{ messageId: 'm', body: JSON.stringify({ client_id: walked.merchant.clientId }) }]
  const settle = await measure('settle-client', 'settled', () => run('settle-client', { Records }))
  // A run that found nothing to settle writes nothing, and would be no measurement.
  if (settle.writes === 0) throw new Error('nothing was settled')
  return {
    perPayment: [
      ...steps,
      times(share(beyond(idleSync, looked)), ASSUMPTIONS.syncLooks),
      share(beyond(idleSync, sync)),
      share(settle),
    ],
    abandoned: await abandonOne(walked),
    idleRuns,
    storedBytesPerPayment,
    ...(await measureUnpaid()),
  }
}

const syncRun = ({ measure, run }: MeteredWorld, name: string): Promise<Flow> =>
  measure('sync-provider-transactions', name, async () => {
    v.parse(v.object({ complete: v.literal(true) }), await run('sync-provider-transactions', {}))
  })

type Change = (count: number, name: string) => number

const changed = <Counts extends object>(counts: Counts, change: Change): Counts =>
  Object.fromEntries(
    Object.entries(counts).map(([name, value]) => [name, typeof value === 'number' ? change(value, name) : value]),
  ) as Counts

/** The flow with each of its counts changed. */
const counted = (flow: Flow, change: Change): Flow => ({
  ...changed(flow, change),
  detail: changed(flow.detail, change),
})

const times = (flow: Flow, factor: number): Flow => counted(flow, (count) => count * factor)

/** The part of one payment in a run that serves many. */
const share = (flow: Flow): Flow => times(flow, 1 / MANY)

/** What a scheduled run uses for the payments it checks, beyond its fixed use in an hour. */
const beyond = (idle: Flow, flow: Flow): Flow =>
  counted(flow, (count, name) => Math.max(0, count - Number(Reflect.get({ ...idle.detail, ...idle }, name) ?? 0)))

/** A payment that is pending after so many minutes' rounds has no end. */
const MOST_ROUNDS = 60

/** Many unpaid payments up to their end: the first one's create, all of their ends, and a delivery. */
const measureUnpaid = async () => {
  const started = await startMerchant()
  const { world, measure, run, serve, pass, create } = started
  const before = storedBytes(world.table)
  const created = await measure('api-create-payment', 'created', () => create('payment-1'))
  for (let number = 2; number <= MANY; number++) await create(`payment-${number}`)
  await pass(DAY_MS)
  const isPending = () => world.table.items().some(({ sk, status }) => sk === 'PAYMENT' && status === 'pending')
  let invocations = 0
  const expired = await measure('check-due-payments', 'expired, announced', async () => {
    for (let rounds = 0; isPending(); rounds++) {
      if (rounds > MOST_ROUNDS) throw new Error('unpaid payments never end')
      await pass(MINUTE_MS)
      await run('check-due-work', {})
      while (await serve('due-payments', 1)) invocations++
    }
  })
  const delivered = await measure('deliver-webhook', 'delivered', () => deliverNext(started))
  while (await deliverNext(started));
  return {
    perUnpaid: [created, share({ ...expired, invocations }), delivered],
    storedBytesPerUnpaid: Math.round((storedBytes(world.table) - before) / MANY),
  }
}

/** More hops than eight attempts can need: a delivery that is not over by then has no end. */
const MOST_HOPS = 40

const abandonOne = async (walked: MeteredMerchant): Promise<Flow> => {
  const { world, measure, merchant } = walked
  world.faults = { ...NO_FAULTS, merchantFails: 1 }
  const target = { operator: 'bench', client_id: merchant.clientId, endpoint_id: merchant.endpoints[0]?.endpointId }
  const sent = await drive(world, operate(world, 'send-test-event', target))
  if (sent?.status !== 200) throw new Error(`no test event was sent: ${JSON.stringify(sent)}`)
  let invocations = 0
  const flow = await measure('deliver-webhook', 'a delivery given up', async () => {
    while (await deliverNext(walked)) {
      if (++invocations > MOST_HOPS) throw new Error('the delivery never ends')
    }
  })
  return { ...flow, invocations, messages: flow.messages + 1 }
}
