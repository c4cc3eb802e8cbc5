import type { RawItem } from '../../support/recount/books.ts'
import { ownRowsOf } from '../../support/recount/payment-books.ts'
import { becomes, DAY_MS, isGiven, isRewritten, ms, type Rules, type Write, watchRules } from '../world/rules.ts'
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

/** How long a payment waits for its settled row before its fee is assumed. */
export const HELD_MS = 7 * DAY_MS
/** How far off a machine's clock is at most. */
const CLOCK_MS = 10_000

const ofFees: Rules = {
  'has an actual fee that the provider did not keep': (write) =>
    write.world.providerFees === 'deducted' &&
    becomesFinal(write) &&
    becomes(write, 'fee_status', 'actual') &&
    !isKept(write),
  'has another final fee than its estimate, and the provider bills by the tariff': (write) =>
    write.world.providerFees === 'invoiced' && becomesFinal(write) && isRewritten(write, 'provider_fee_minor'),
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

const ofMovements: Rules = {
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
}

/** Checked at every write to a payment: its fee, and what moved its money, are what the provider's own rows say. */
export const watchProviderRows = (world: World): void => {
  const rules = { ...ofFees, ...ofMovements }
  watchRules(world, ({ sk }, { after }) => (sk === 'PAYMENT' && isVisible(after) ? rules : undefined))
}
