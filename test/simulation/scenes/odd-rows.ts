import type { StoredItem } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import {
  isOpen,
  type PaymentRequest,
} from '../../../infra/local/provider-simulator/provider-objects.ts'
import { paymentOfRecord } from '../../../infra/local/provider-simulator/simulator-store.ts'
import { NAMED_BY } from '../../../infra/local/provider-simulator/transactions/reverse-payment.ts'
import { captureOf } from '../../support/recount/books.ts'
import { invoke } from '../world/lambda.ts'
import { paymentOfReference, rowsOf, stageOf } from '../world/rows.ts'
import { count } from '../world/tally.ts'
import { noteFault, trace, type World, waitFor } from '../world/world.ts'
import type { Scene } from './http.ts'

const MOVEMENT_TYPES = ['REFUND', 'CHARGEBACK', 'CHARGEBACK_REVERSAL']

const DAY_SECONDS = 86_400
/** After the day of the assumed fee. A history ends with eight days, so the row is still read. */
const LATEST_FEE_SECONDS = [7.02 * DAY_SECONDS, 7.5 * DAY_SECONDS] as const

/**
 * Faults of the next payment's row: the fault's name in the world, its name in the simulator, and
 * its value.
 */
const ROW_FAULTS = [
  ['feeZero', 'fee', () => 0],
  ['feeLate', 'fee_late', lateSeconds],
  ['rowTwice', 'duplicate', () => undefined],
  ['rowMissing', 'missing', () => undefined],
] as const

/**
 * The provider withholds a row for this time: it ends after the day of the assumed fee, before the
 * last check.
 */
const SILENT_MS = 7.3 * DAY_SECONDS * 1_000

type Paid = Pick<PaymentRequest, 'payment_request_id' | 'reference_id'>

/** Only a request that the gateway asks about may have no row. */
export function payWithRowFaults(world: World, paid: Paid, pay: () => boolean) {
  const { scenePrng, provider, faults } = world
  // A history has few payments, so the faults must be frequent.
  const chanceOf = (name: keyof typeof faults) =>
    faults[name] > 0 ? Math.max(faults[name], 0.15) : 0
  const own = ROW_FAULTS.filter(([name]) => scenePrng.chance(chanceOf(name))).filter(
    ([name]) => name !== 'rowMissing' || isAskedAbout(world, paid),
  )
  for (const [, fault, value] of own)
    provider.orderFault({ target: 'transactions', fault, value: value(world) })
  // Drawn apart, so that histories without late rows stay as they are.
  const isLate = faults.rowLate > 0 && scenePrng.chance(chanceOf('rowLate'))
  if (isLate)
    provider.orderFault({
      target: 'transactions',
      fault: 'row_late',
      value: lateSecondsOfRow(world),
    })
  // Money whose row is never shown must be found by the request.
  const isFound = isLate && scenePrng.chance(0.2) && own.every(([name]) => name !== 'rowMissing')
  if (isFound) provider.orderFault({ target: 'payment', fault: 'found_at_settlement' })
  const hasPaid = pay()
  if (isFound && hasPaid) count(world.tally, 'money found at its settlement')
  else if (isFound) provider.clearFaults({ target: 'payment', fault: 'found_at_settlement' })
  if (isLate && hasPaid) noteFault(world, 'rowLate')
  else if (isLate) provider.clearFaults({ target: 'transactions', fault: 'row_late' })
  for (const [name, fault] of own) {
    if (hasPaid) noteFault(world, name)
    else provider.clearFaults({ target: 'transactions', fault })
  }
  const id = provider.findPaymentRequests(paid.reference_id).at(-1)?.latest_payment_id
  const isOrdered = (fault: string) => own.some(([name]) => name === fault)
  if (!hasPaid || id === undefined) return hasPaid
  if (isOrdered('rowMissing')) world.unshownRows.add(id)
  if (isOrdered('feeLate') && scenePrng.chance(0.7))
    world.withheld.set(`fee of ${id}`, {
      untilMs: world.scheduler.nowMs() + SILENT_MS,
      says: 'nothing',
    })
  return hasPaid
}

/** From less than the sync's overlap up to a day. */
function lateSecondsOfRow({ scenePrng }: World) {
  return scenePrng.pick([60, 600, 3_600, DAY_SECONDS / 2, DAY_SECONDS])
}

/**
 * Whether the gateway still asks the provider about this request. Otherwise only the row shows that
 * the customer paid.
 */
function isAskedAbout(world: World, { payment_request_id: id, reference_id: reference }: Paid) {
  const payment = paymentOfReference(world, reference)
  const request = world.provider.storedRequest(id)?.request
  return (
    payment?.['status'] === 'pending' &&
    payment['payment_request_id'] === id &&
    request !== undefined &&
    isOpen(request)
  )
}

const TYPES = [
  ...threeTimes('PAYMENT'),
  ...MOVEMENT_TYPES,
  'ADJUSTMENT_DEDUCT',
  ...threeTimes('DISBURSEMENT'),
  ...threeTimes('WITHDRAWAL'),
  'UNKNOWN_TYPE',
]
const STATUSES = ['SUCCESS', 'SUCCESS', 'PENDING', 'FAILED', 'VOIDED', 'REVERSED', 'UNKNOWN_STATUS']

const NO_MONEY = ['FAILED', 'PENDING', 'VOIDED', 'REVERSED']

/** The row must not move money or hide other rows. */
export function bookExtraRow(world: World, paid: Pick<PaymentRequest, 'reference_id'>) {
  const { scenePrng, provider } = world
  if (!scenePrng.chance(0.3)) return
  const type = scenePrng.pick(TYPES)
  const status = scenePrng.pick(type === 'PAYMENT' ? NO_MONEY : STATUSES)
  const isOfPayment = scenePrng.chance(type === 'WITHDRAWAL' ? 0.2 : 0.7)
  const reference = isOfPayment ? paid.reference_id : 'order 17'
  const product = type === 'PAYMENT' && { product_id: `py-${scenePrng.uuid()}` }
  // Amounts of outgoing rows may be negative. A payment row with a negative amount cannot be read.
  const sign = type === 'PAYMENT' && scenePrng.chance(0.8) ? 1 : -1
  const amount = sign * scenePrng.int(1, 100_000)
  const net = world.faults.rowLate > 0 ? oddNet(world, Math.abs(amount)) : {}
  provider.bookTransaction({ type, status, reference_id: reference, amount, ...product, ...net })
  trace(world, () => `the provider books a ${type} (${status}) for ${reference}`)
  count(world.tally, `odd row booked: ${type}`)
}

/** A negative net, a net in another currency, unknown members, and a row that is shown late. */
function oddNet(world: World, amount: number) {
  const { scenePrng } = world
  const nets: readonly (readonly [what: string, fields: object])[] = [
    ['usual', {}],
    ['negative net', { cashflow: 'MONEY_IN', net_amount: -scenePrng.int(1, amount) }],
    ['net in another currency', { net_amount: 12.15, net_amount_currency: 'USD' }],
    ['unknown fee status', { fee_status: 'UNKNOWN_STATUS' }],
    ['unknown settlement status', { settlement_status: 'UNKNOWN_STATUS' }],
  ]
  const [what, fields] = scenePrng.pick(nets)
  const isLate = scenePrng.chance(0.5)
  count(world.tally, `odd row: ${what}${isLate ? ', late' : ''}`)
  return { ...fields, ...(isLate && { shown_after_seconds: lateSecondsOfRow(world) }) }
}

function threeTimes(type: string) {
  return [type, type, type]
}

const REVERSAL_KINDS = ['voided', 'reversed', 'refund', 'chargeback', 'chargeback'] as const
const KINDS_WITH_OWN_ROW = ['refund', 'chargeback'] as const

/** The limit leaves room for the movements of other scenes. */
const MAX_MOVEMENTS = 8

export function reverseRandomPayment(
  world: World,
  probability: number,
  isCandidate: (payment: StoredItem) => boolean = () => true,
  asked?: 'chargeback',
) {
  const { scenePrng, provider, reversalRowIds } = world
  if (!scenePrng.chance(probability)) return
  const credited = rowsOf(world, 'PAYMENT', { status: 'succeeded' }).filter(
    (payment) =>
      ((payment['movements'] ?? []) as readonly unknown[]).length < MAX_MOVEMENTS &&
      isCandidate(payment),
  )
  const disputed = credited.filter((one) => {
    const id = captureOf(one)
    const rows = provider.transactionRecords().filter((record) => paymentOfRecord(record) === id)
    const times = (type: string) => rows.filter(({ row }) => row.type === type).length
    return times('CHARGEBACK') > times('CHARGEBACK_REVERSAL')
  })
  const isWon = asked === undefined && scenePrng.chance(disputed.length > 0 ? 0.5 : 0.02)
  const payment = drawAtStage(world, isWon && disputed.length > 0 ? disputed : credited)
  const paid = provider
    .findPaymentRequests('')
    .find(({ latest_payment_id: id }) => id !== undefined && id === captureOf(payment))
  if (paid === undefined) return
  const { payment_request_id: id, request_amount: most, latest_payment_id: paidId } = paid
  if (!asked && scenePrng.chance(0.15) && voidMovement(world, id, paidId)) return
  // The sync reads a reversal only from a row. Without the payment's row it must have its own.
  const kind = isWon
    ? 'chargeback_reversal'
    : (asked ??
      scenePrng.pick(world.unshownRows.has(String(paidId)) ? KINDS_WITH_OWN_ROW : REVERSAL_KINDS))
  const isPart = kind !== 'voided' && kind !== 'reversed' && scenePrng.chance(isWon ? 0.15 : 0.4)
  try {
    const amount = isPart ? scenePrng.int(1, most) : most
    const fee =
      kind === 'chargeback' && scenePrng.chance(0.5) ? { fee: scenePrng.int(0, 20_000) } : {}
    const name = scenePrng.pick(NAMED_BY)
    const named = kind === 'voided' || kind === 'reversed' ? {} : { named_by: name }
    const part = (isPart || isWon) && { amount }
    const row = provider.reversePayment(id, { kind, ...fee, ...part, ...named })
    if (row.type !== 'PAYMENT') reversalRowIds.push(row.id)
    trace(world, () => `${row.amount} of ${id} move: ${kind}`)
    count(world.tally, `reversed: ${kind}`)
  } catch {
    count(world.tally, 'reversal refused')
  }
}

/** Draws the stage first, so that payments at rare stages are as frequent as others. */
function drawAtStage(world: World, payments: readonly StoredItem[]) {
  const byStage = Map.groupBy(payments, (payment) => stageOf(world, payment))
  return payments.length === 0
    ? undefined
    : world.scenePrng.pick(world.scenePrng.pick([...byStage.values()]))
}

function voidMovement(world: World, requestId: string, paidId: string | undefined) {
  const rows = world.provider
    .transactionRecords()
    .filter(
      (record) =>
        paymentOfRecord(record) === paidId &&
        MOVEMENT_TYPES.includes(record.row.type) &&
        record.row.status === 'SUCCESS',
    )
  if (rows.length === 0) return false
  const { id, row } = world.scenePrng.pick(rows)
  world.provider.reversePayment(requestId, {
    kind: world.scenePrng.pick(['voided', 'reversed']),
    transaction_id: id,
  })
  trace(world, () => `the ${row.type} ${id} of ${requestId} is voided`)
  count(world.tally, `movement voided: ${row.type}`)
  return true
}

/** The sync reads the reversals one by one, or several at once. */
export async function overlappingReversals({ world }: Scene) {
  const { scenePrng, prng } = world
  const credited = rowsOf(world, 'PAYMENT', { status: 'succeeded' })
  if (credited.length === 0) return
  const { pk } = prng.pick(credited)
  for (let left = prng.int(2, 5); left > 0; left--) {
    reverseRandomPayment(world, 1, (payment) => payment['pk'] === pk)
    if (scenePrng.chance(0.6)) await invoke(world, 'sync-provider-transactions', {})
    await waitFor(world, prng.pick([10, 150_000, 7_200_000]))
  }
}

function lateSeconds({ scenePrng }: World) {
  return scenePrng.chance(0.6)
    ? scenePrng.int(...LATEST_FEE_SECONDS)
    : scenePrng.int(60, LATEST_FEE_SECONDS[1])
}
