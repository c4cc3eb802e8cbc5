import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../shared/time.ts'
import { startMerchant } from '../bench/measure-flows.ts'
import type { MeteredWorld } from '../bench/metered-world.ts'
import { operate } from '../simulation/world/lambda.ts'
import { paymentRow, rowsOf } from '../simulation/world/rows.ts'
import { sqsEvent } from '../simulation/world/sim-queue.ts'
import { runUntil } from '../simulation/world/world.ts'

export const FLOWS = {
  create: 'a `POST /v1/payments`, up to its answer',
  callback: 'a callback of a paid payment, up to its announcement in the queue',
  webhook: 'one attempt of a delivery, which the endpoint answers with 200',
  posting: 'a run of the sync that reads a settled row and posts its payment',
  settle: 'the message that settles one client',
  payout: 'the record of a payout, after the audit of its settlement',
  audit: 'the audit of a client with a posted and settled payment',
  reversal: 'a run of the sync that books and announces the refund of a posted payment',
} as const

export type FlowName = keyof typeof FLOWS

type OnFlow = (name: FlowName, run: () => Promise<unknown>) => Promise<unknown>

type Walk = Awaited<ReturnType<typeof startMerchant>> & { readonly onFlow: OnFlow }

/**
 * Walks a new merchant through every flow, on the real handlers. The second walk in a world starts
 * no environment, and finds no read in a cache: its merchant is new, and an hour has passed. Throws
 * when a flow did not do its work, because too few functions would have run.
 */
export async function walkFlows(metered: MeteredWorld, onFlow: OnFlow) {
  const started = await startMerchant(metered, ['payment.reversed'])
  const walk: Walk = { ...started, onFlow }
  const unmeasured: Walk = { ...started, onFlow: (_, run) => run() }
  // Otherwise the sum of one payment could be too small to settle.
  await operated(walk, 'update-client', {
    client_id: walk.merchant.clientId,
    settlement_floor_minor: 0,
  })
  await walk.passTime(HOUR_MS)
  const settled = await createAndPay(walk, 'payment-1')
  await deliver(walk)
  await waitUntilPosted(walk, settled)
  await settleAndPayOut(walk)
  await auditMerchant(walk)
  const refunded = await createAndPay(unmeasured, 'payment-2')
  await waitUntilPosted(unmeasured, refunded)
  await refund(walk, refunded)
  await walk.drainQueues()
}

async function operated({ world }: Walk, action: string, payload: object) {
  const reply = await runUntil(world, operate(world, action, payload))
  if (reply?.status !== 200) throw new Error(`${action} answered ${JSON.stringify(reply)}`)
  return reply.body
}

async function createAndPay(walk: Walk, key: string) {
  const { world, callbacks, onFlow, passTime, ask, create } = walk
  let id = ''
  await onFlow('create', async () => {
    id = await create(key)
  })
  world.provider.simulatePayment(requestOf(walk, id))
  await passTime(1_000)
  await onFlow('callback', () =>
    ask('receive-provider-callback', { ...callbacks.at(-1) }, 200, { outcome: 'applied' }),
  )
  requireDone('callback', isAnnounced(walk))
  return id
}

function requestOf({ world }: Walk, paymentId: string) {
  return world.provider.findPaymentRequests(paymentId)[0]?.payment_request_id ?? ''
}

function requireDone(name: FlowName, done: boolean) {
  if (!done) throw new Error(`the flow ${name} did not do its work`)
}

function isAnnounced({ world }: Walk) {
  return world.queues.webhooks.nextDueMs() !== undefined
}

async function deliver({ world, merchant, onFlow, passTime, handleBatch }: Walk) {
  await passTime(1_000)
  await onFlow('webhook', () => handleBatch('webhooks', 1))
  requireDone('webhook', world.merchants.received.at(-1)?.url === merchant.endpoints[0]?.url)
}

/** The sync sees the row before and after its settlement, as it does every five minutes. */
async function waitUntilPosted({ world, onFlow, run, passTime }: Walk, paymentId: string) {
  const sync = () => run('sync-provider-transactions', {})
  await sync()
  const settlesAtMs = Math.max(
    ...world.provider.transactionRecords().map(({ settleAtMs = 0 }) => settleAtMs),
  )
  await passTime(settlesAtMs - MINUTE_MS - world.scheduler.nowMs())
  await sync()
  await passTime(5 * MINUTE_MS)
  await onFlow('posting', sync)
  requireDone('posting', paymentRow(world, paymentId)?.['posted_at'] !== undefined)
  await passTime(DAY_MS)
  await sync()
}

async function settleAndPayOut(walk: Walk) {
  const { world, merchant, onFlow, run, passTime } = walk
  const message = (body: object) => sqsEvent([{ messageId: 'm', body: JSON.stringify(body) }])
  await onFlow('settle', () => run('settle-client', message({ client_id: merchant.clientId })))
  const [settlement] = rowsOf(world, 'SETTLEMENT', {
    client_id: merchant.clientId,
    status: 'recorded',
  })
  requireDone('settle', settlement !== undefined)
  const id = String(settlement?.['settlement_id'])
  await passTime(2 * MINUTE_MS)
  for (const body of [{ gateway: true }, { client_id: merchant.clientId }])
    await run('audit-client', message(body))
  const paid = { settlement_id: id, bank_reference: `BCA ${id}` }
  await onFlow('payout', () => operated(walk, 'mark-settlement-paid', paid))
}

async function auditMerchant(walk: Walk) {
  await walk.passTime(HOUR_MS)
  await walk.onFlow('audit', async () => {
    const { balanced } = await operated(walk, 'audit-ledger', { client_id: walk.merchant.clientId })
    requireDone('audit', balanced === true)
  })
}

async function refund(walk: Walk, paymentId: string) {
  const { world, onFlow, run, passTime, drainQueues } = walk
  await drainQueues()
  world.provider.reversePayment(requestOf(walk, paymentId), { kind: 'refund' })
  await passTime(5 * MINUTE_MS)
  await onFlow('reversal', () => run('sync-provider-transactions', {}))
  requireDone(
    'reversal',
    paymentRow(world, paymentId)?.['reversal'] !== undefined && isAnnounced(walk),
  )
}
