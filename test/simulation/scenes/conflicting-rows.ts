import type { PaymentRequest } from '../../../infra/local/provider-simulator/provider-objects.ts'
import { type Reported, reportSituation } from '../sometimes/report-situation.ts'
import { type InvokeOptions, invoke, operate } from '../world/lambda.ts'
import { paymentOfReference, rowsOf } from '../world/rows.ts'
import { count } from '../world/tally.ts'
import { trace, type World, waitFor } from '../world/world.ts'
import type { Scene } from './http.ts'

/** The provider books a row that contradicts the payment's own, or money of no payment. */
export async function bookConflictingRow(play: Scene) {
  const { scenePrng, provider, unshownRows } = play.world
  const captured = new Map(provider.capturedPayments().map(({ id, amount }) => [id, amount]))
  // It must not replace an own row that is never shown.
  const paid = provider
    .findPaymentRequests('')
    .filter(
      ({ latest_payment_id: id = '', request_amount: amount }) =>
        captured.get(id) === amount && !unshownRows.has(id),
    )
  if (paid.length === 0 || scenePrng.chance(0.2)) return bookUnknown(play)
  // A payment that waits for its money or for its final fee: the gateway believes the next row.
  const open = paid.filter(({ reference_id: reference }) => {
    const payment = paymentOfReference(play.world, reference)
    return payment?.['status'] === 'pending' || payment?.['fee_status'] === 'estimated'
  })
  bookBeside(play.world, scenePrng.pick(open.length > 0 && scenePrng.chance(0.4) ? open : paid))
}

function bookUnknown({ world, scenePrng, provider }: Scene) {
  const type = scenePrng.pick(['PAYMENT', 'PAYMENT', 'UNKNOWN_TYPE'])
  const product = `py-${scenePrng.uuid()}`
  const row = provider.bookTransaction({ type, product_id: product, ...drawReference(world) })
  world.reversalRowIds.push(type === 'PAYMENT' ? product : row.id)
  trace(world, () => `the provider books money of no payment: ${product}`)
  count(world.tally, 'conflicting row: money of no payment')
}

/**
 * A reference of another product, or a reference like ours: of a pending payment, but of none of
 * its attempts.
 */
function drawReference(world: World): { readonly reference_id: string; readonly amount: number } {
  const { scenePrng } = world
  const amount = scenePrng.int(1, 100_000)
  const pending = rowsOf(world, 'PAYMENT', { status: 'pending' })
  if (pending.length === 0 || scenePrng.chance(0.4))
    return { amount, reference_id: scenePrng.chance(0.5) ? 'order 17' : `${scenePrng.uuid()}-1` }
  const { pk, notional_minor: asked } = scenePrng.pick(pending)
  return {
    amount: Number(asked),
    reference_id: `${String(pk).slice('PAYMENT#'.length)}-${scenePrng.int(20, 29)}`,
  }
}

function bookBeside(world: World, paid: PaymentRequest) {
  const { scenePrng, provider, scheduler, tally } = world
  const { latest_payment_id: id = '', reference_id } = paid
  const [what, row] = drawConflictingRow(world, reference_id, paid.request_amount)
  const own = provider.transactionRecords().find((record) => record.row.product_id === id)
  const settlesInMs = (own?.settleAtMs ?? 0) - scheduler.nowMs()
  const book = () => {
    const like = { type: 'PAYMENT', settlement_status: 'SETTLED', cashflow: 'MONEY_IN' }
    provider.bookTransaction({ ...like, reference_id, product_id: id, ...row })
    trace(world, () => `the provider books a row of ${what} for ${reference_id}`)
    count(tally, `conflicting row: ${what}`)
  }
  if (settlesInMs > 0 && scenePrng.chance(0.8))
    scheduler.after(settlesInMs + scenePrng.int(0, 60_000), book)
  else book()
}

type ConflictingRow = readonly [what: string, row: object]

/** Another fee contradicts only a final fee: the gateway believes it before. */
function drawConflictingRow(world: World, reference: string, asked: number) {
  const { scenePrng } = world
  const payment = paymentOfReference(world, reference)
  const [wrong, kept] = [scenePrng.int(1, 5_000), scenePrng.int(1, 300)]
  const amount = asked
  const always: readonly ConflictingRow[] = [
    ['another amount', { amount: asked + wrong, net_amount: asked + wrong - kept }],
    ['less kept than nothing', { amount, net_amount: asked + kept }],
    ['another currency', { amount, net_amount: asked - kept, currency: 'USD' }],
    ['never settled', { amount, net_amount: asked, settlement_status: 'PENDING' }],
    ['a net in another currency', { amount, net_amount: 12.15, net_amount_currency: 'USD' }],
    // Beyond what a fee can be: the gateway would believe a smaller one.
    ['a negative net', { amount, net_amount: -40_000 - wrong }],
    ['an unknown fee status', { amount, net_amount: asked - kept, fee_status: 'UNKNOWN_STATUS' }],
  ]
  const known =
    payment?.['fee_status'] === 'actual' ? Number(payment['provider_fee_minor']) : undefined
  const changed: ConflictingRow = [
    'another fee',
    { amount, net_amount: asked - Number(known) - kept },
  ]
  return scenePrng.pick(known === undefined ? always : [...always, changed, changed, changed])
}

/** Shorter and longer than the five minutes of a slice's lease. */
const FROZEN_MS = [5_000, 150_000, 320_000, 400_000]

/** Shorter than a settlement run. */
const SETTLING_MS = 250

export async function resumeLate(scene: Scene) {
  const { world, tenants, prng } = scene
  if (prng.chance(0.6)) return freezeSync(scene, prng.int(5, 1_500))
  const forMs = prng.pick(FROZEN_MS)
  const freeze = { afterMs: prng.int(5, SETTLING_MS), forMs }
  return freezeRun(scene, 'a settlement run is frozen during its work', freeze, (options) =>
    operate(world, 'trigger-settlement', { client_id: prng.pick(tenants).clientId }, options),
  )
}

function freezeSync(scene: Scene, afterMs: number) {
  return freezeRun(
    scene,
    'a sync is frozen during its work',
    { afterMs, forMs: scene.prng.pick(FROZEN_MS) },
    (options) => invoke(scene.world, 'sync-provider-transactions', {}, options),
  )
}

/**
 * A run is frozen some time after its start. It continues minutes later with its old read, beside
 * another run.
 */
async function freezeRun(
  { world, prng }: Scene,
  what: Reported,
  freeze: { readonly afterMs: number; readonly forMs: number },
  begin: (options?: InvokeOptions) => Promise<unknown>,
) {
  await begin({ freeze })
  if (prng.chance(0.5)) await begin()
  await waitFor(world, freeze.forMs + prng.int(0, 1_000))
  reportSituation(world, what)
  await begin()
}

const CLOSED = ['expired', 'cancelled', 'failed']

/**
 * Customers pay for ended payments, or wrong amounts, while callbacks and the provider's answers
 * are missing.
 */
export async function payUnasked(scene: Scene) {
  const { world, scenePrng, prng } = scene
  const all = world.provider.findPaymentRequests('')
  // Unpaid requests of payments that have ended without money. Due work no longer checks these.
  const late = all.filter(
    ({ reference_id: reference, latest_payment_id: paid }) =>
      paid === undefined &&
      CLOSED.includes(String(paymentOfReference(world, reference)?.['status'])),
  )
  const isLate = late.length > 0 && prng.chance(0.8)
  const requests = isLate ? late : all.filter(({ status }) => status === 'REQUIRES_ACTION')
  const freeze = prng.chance(0.4)
  const settlesInSeconds = freeze ? scenePrng.int(20, 140) : scenePrng.int(60, 5_000)
  const paid = requests
    .slice(-prng.int(1, 3))
    .filter((request) => pay(world, request, isLate, settlesInSeconds))
  if (freeze && paid.length > 0) await freezeSync(scene, prng.int(100, 900))
}

const HOUR_MS = 3_600_000

/**
 * A customer pays. No callback is sent, and the provider does not answer about it for hours. False
 * if it is refused.
 */
function pay(world: World, request: PaymentRequest, isLate: boolean, settlesInSeconds: number) {
  const { scenePrng, provider, scheduler } = world
  const { payment_request_id: id, request_amount: asked } = request
  const amount = isLate ? asked : asked + scenePrng.int(1, 9)
  if (isLate) provider.orderFault({ target: 'payment', fault: 'after_expiry', times: 1 })
  provider.orderFault({ target: 'callback', fault: 'lost' })
  provider.orderFault({ target: 'transactions', fault: 'fee_late', value: settlesInSeconds })
  try {
    provider.simulatePayment(id, { amount })
  } catch {
    provider.clearFaults({ target: 'callback', fault: 'lost' })
    provider.clearFaults({ target: 'transactions', fault: 'fee_late' })
    return false
  }
  const untilMs = scheduler.nowMs() + scenePrng.int(HOUR_MS, 4 * HOUR_MS)
  const says = scenePrng.pick(['nothing', 'nothing', 'not found', 'too often'] as const)
  world.withheld.set(String(provider.storedRequest(id)?.request.latest_payment_id), {
    untilMs,
    says,
  })
  if (says !== 'not found') world.withheld.set(id, { untilMs, says })
  if (scenePrng.chance(0.2))
    scheduler.after(scenePrng.int(60_000, 2 * HOUR_MS), () => voidPaid(world, id))
  trace(world, () => `${amount} is paid on ${id}, and the provider answers nothing about it`)
  reportSituation(world, 'a payment is made while the provider does not answer about it')
  return true
}

/** The provider refuses the void if another scene has voided the row already. */
function voidPaid({ provider, scenePrng, tally }: World, requestId: string) {
  const kind = scenePrng.pick(['voided', 'reversed'] as const)
  try {
    provider.reversePayment(requestId, { kind })
  } catch {
    count(tally, 'reversal refused')
  }
}
