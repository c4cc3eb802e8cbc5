import { amount, type RawItem } from '../../support/recount/books.ts'
import { ownRowsOf } from '../../support/recount/payment-books.ts'
import {
  becomes,
  DAY_MS,
  isChanged,
  isGiven,
  isRewritten,
  movesOtherwise,
  ms,
  type Rules,
  rewrites,
  type Write,
  watchRules,
} from '../world/rules.ts'
import type { World } from '../world/world.ts'

const isVisible = ({ status }: RawItem) => status !== undefined && status !== 'creating'
export const isFinal = ({ fee_status: status }: RawItem) => status === 'actual' || status === 'assumed'
/** Its own row was voided before it was posted: it has no final fee, and needs none. */
export const isVoidedOpen = ({ voided_open: isVoid }: RawItem) => isVoid === true
const staysSucceeded = ({ before, after }: Write) => before['status'] === 'succeeded' && after['status'] === 'succeeded'
const becomesFinal = ({ before, after }: Write) => isFinal(after) && !isFinal(before)

/** The provider's settled row of the money that the payment was credited with. */
export const settledRowOf = ({ provider }: World, payment: RawItem) => {
  const found = provider.transactionRecords().find(
    ({ row }) =>
      row.type === 'PAYMENT' &&
      row.product_id === payment['credited_provider_payment_id'] &&
      row.amount === payment['notional_minor'] &&
      row.currency === 'IDR' &&
      // A row that a scene booked beside the capture has none.
      row.product_data !== null,
  )
  return found?.settleAtMs === undefined ? found?.row : undefined
}

/** The fee that the provider kept by that row. */
export const keptBy = ({ amount: gross, net_amount: net }: NonNullable<ReturnType<typeof settledRowOf>>) => gross - net

const isKept = ({ world, after }: Write): boolean => {
  const row = settledRowOf(world, after)
  return row !== undefined && keptBy(row) === after['provider_fee_minor']
}

const FEE_FIELDS = ['fee_status', 'provider_fee_minor', 'net_minor', 'markup_minor', 'notional_minor']
/** How long a payment waits for its settled row before its fee is assumed. */
export const HELD_MS = 7 * DAY_MS
/** How far off a machine's clock is at most. */
const CLOCK_MS = 10_000

const ofFees: Rules = {
  'changes its markup': (write) => isVisible(write.before) && rewrites('markup_minor')(write),
  'has a final fee before it succeeds': ({ after }) => isFinal(after) && after['status'] !== 'succeeded',
  'changes what it stores of its final fee': rewrites('final_fee'),
  'has another final fee than the one it stores': ({ after }) => {
    // Stored only if the provider bills its fees later.
    if (after['final_fee'] === undefined) return false
    const { status, feeMinor } = Object(after['final_fee'])
    return isFinal(after) && (status !== after['fee_status'] || feeMinor !== after['provider_fee_minor'])
  },
  'has only an estimated fee after the provider settled it': ({ after }) =>
    after['provider_settled_at'] !== undefined && after['fee_status'] === 'estimated',
  'changes when the provider settled it': rewrites('provider_settled_at'),
  'has an actual fee that the provider did not keep': (write) =>
    write.world.providerFees === 'deducted' &&
    becomesFinal(write) &&
    becomes(write, 'fee_status', 'actual') &&
    !isKept(write),
  'has another final fee than its estimate, and the provider bills by the tariff': (write) =>
    write.world.providerFees === 'invoiced' && becomesFinal(write) && isRewritten(write, 'provider_fee_minor'),
  'has another net than its fees leave': ({ after }) =>
    after['status'] === 'succeeded' &&
    amount(after, 'net_minor') !==
      amount(after, 'notional_minor') - amount(after, 'provider_fee_minor') - amount(after, 'markup_minor'),
  'changes its final fee': (write) =>
    staysSucceeded(write) && isFinal(write.before) && FEE_FIELDS.some((name) => isChanged(write, name)),
  'has an assumed fee before seven days are over': (write) =>
    staysSucceeded(write) &&
    becomes(write, 'fee_status', 'assumed') &&
    !isVoidedOpen(write.after) &&
    write.nowMs < ms(write.after, 'paid_at') + HELD_MS - CLOCK_MS,
}

type Movement = {
  readonly type: string
  readonly transactionId: string
  readonly amountMinor: number
  readonly providerMinor: number
}

const movementsOf = (item: RawItem): readonly Movement[] => (item['movements'] ?? []) as readonly Movement[]
const newMovements = ({ before, after }: Write) => movementsOf(after).slice(movementsOf(before).length)
const nameOf = ({ type, transactionId }: Movement): string => `${transactionId} ${type}`

/** A row of the provider's, which may be shown under a second id. */
const rowOf = ({ provider }: World, id: string) =>
  provider.transactionRecords().find((record) => record.id === id || record.duplicateId === id)?.row

type Row = NonNullable<ReturnType<typeof rowOf>>

/** The payment's money that a row moves: a chargeback, and its void, include the provider's fee for it. */
const amountOf = ({ amount: all, fee }: Row, isDispute: boolean): number =>
  Math.abs(all) - (isDispute ? fee.xendit_fee + fee.value_added_tax : 0)

const isDisputed = (item: RawItem, id: string): boolean =>
  movementsOf(item).some(({ type, transactionId }) => type === 'chargeback' && transactionId === id)

/** How much our account at the provider gains by a row. */
const gainBy = ({ cashflow, net_amount: net }: Row): number => (cashflow === 'MONEY_OUT' ? -1 : 1) * Math.abs(net)

/** A change of one of these is a change of the payment's money. */
const MONEY_FIELDS = ['movements', 'taken_back_minor', 'open_at', 'posted_at', 'late_row_at', 'transaction_id']

const ofMovements: Rules = {
  'forgets a row that moved its money': ({ before, after }) =>
    movementsOf(before).some((one, at) => nameOf(movementsOf(after)[at] ?? one) !== nameOf(one)),
  'notes two rows that moved its money in one write, or one row twice': (write) =>
    newMovements(write).length > 1 ||
    new Set(movementsOf(write.after).map(nameOf)).size !== movementsOf(write.after).length,
  'changes its money and does not count its version up': (write) =>
    write.before['status'] === 'succeeded' &&
    MONEY_FIELDS.some((name) => isChanged(write, name)) &&
    movesOtherwise('money_version', 1)(write),
  'notes another amount than its row moved': (write) =>
    newMovements(write).some((movement) => {
      const row = rowOf(write.world, movement.transactionId)
      const isDispute = isDisputed(write.after, movement.transactionId)
      return row !== undefined && movement.amountMinor !== amountOf(row, isDispute)
    }),
  'notes another gain at the provider than its rows have': (write) => {
    const gains = newMovements(write).filter(({ type }) => type !== 'reversal')
    return [...(isGiven(write, 'transaction_id') ? ownRowsOf(write.after) : []), ...gains].some((one) => {
      const row = rowOf(write.world, one.transactionId)
      return row !== undefined && gainBy(row) !== one.providerMinor
    })
  },
  'is posted a second time': rewrites('posted_at'),
}

/** Checked at every write to a payment: its fee, and what moved its money, are what the provider's own rows say. */
export const watchFeeFields = (world: World): void => {
  const rules = { ...ofFees, ...ofMovements }
  watchRules(world, ({ sk }, { after }) => (sk === 'PAYMENT' && isVisible(after) ? rules : undefined))
}
