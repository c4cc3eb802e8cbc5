import { amount, type RawItem, text } from '../../support/recount/books.ts'
import { ownRowsOf } from '../../support/recount/payment-books.ts'
import { namesOf, type Process } from '../world/process.ts'
import { addTo, type World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { becomes, DAY_MS, isChanged, isGiven, ms, type Rules, rewrites, type Write, watchRules } from './rules.ts'

/** Spec 2.1.1: percent of the amount in basis points, and what is flat. */
const TARIFFS: Readonly<Record<string, readonly [bps: number, flat: number]>> = {
  OVO: [200, 0],
  DANA: [150, 500],
  LINKAJA: [150, 0],
  SHOPEEPAY: [200, 0],
  GOPAY: [200, 0],
}
const ANY_WALLET = [200, 500] as const
const BANK = [0, 4_000] as const
const QRIS = [70, 0] as const

const tariffOf = (payment: RawItem) => {
  if (payment['method'] === 'qris') return QRIS
  return payment['method'] === 'virtual_account' ? BANK : (TARIFFS[text(payment, 'channel_code')] ?? ANY_WALLET)
}

const byTariff = (payment: RawItem): number => {
  const [bps, flat] = tariffOf(payment)
  return Math.floor((amount(payment, 'notional_minor') * bps) / 10_000) + flat
}

const isVisible = ({ status }: RawItem) => status !== undefined && status !== 'creating'
export const isFinal = ({ fee_status: status }: RawItem) => status === 'actual' || status === 'assumed'
/** It left open void: no fee of it is known, or needed. */
export const isVoidedOpen = ({ voided_open: isVoid }: RawItem) => isVoid === true
const staysSucceeded = ({ before, after }: Write) => before['status'] === 'succeeded' && after['status'] === 'succeeded'
const becomesFinal = ({ before, after }: Write) => isFinal(after) && !isFinal(before)

/** What the provider's row of the money a payment was credited with shows that it kept, once that is final. */
const keptFor = ({ provider }: World, payment: RawItem): number | undefined => {
  const found = provider.transactionRecords().find(
    ({ row }) =>
      row.type === 'PAYMENT' &&
      row.product_id === payment['credited_provider_payment_id'] &&
      row.amount === payment['notional_minor'] &&
      row.currency === 'IDR' &&
      // Whatever is booked beside captures is none.
      row.product_data !== null,
  )
  return found && found.settleAtMs === undefined ? found.row.amount - found.row.net_amount : undefined
}

const FEE_FIELDS = ['fee_status', 'provider_fee_minor', 'net_minor', 'markup_minor', 'notional_minor']
/** So long the provider has time to say what it kept; and how far a machine's clock is off at most. */
export const HELD_MS = 7 * DAY_MS
const CLOCK_MS = 10_000

const ofFees: Rules = {
  'begins with another markup than a thousandth': ({ before, after }) =>
    !isVisible(before) && after['markup_minor'] !== Math.floor(amount(after, 'notional_minor') / 1_000),
  'is not estimated by the tariff': ({ before, after }) =>
    !isVisible(before) && !isFinal(after) && after['provider_fee_minor'] !== byTariff(after),
  'has another markup than before': (write) => isVisible(write.before) && rewrites('markup_minor')(write),
  'has a fee that is final before it has succeeded': ({ after }) => isFinal(after) && after['status'] !== 'succeeded',
  'says twice how its fee became final': rewrites('final_fee'),
  'says otherwise how its fee became final': ({ after }) => {
    // Stored of an invoiced one alone.
    if (after['final_fee'] === undefined) return false
    const { status, feeMinor } = Object(after['final_fee'])
    return isFinal(after) && (status !== after['fee_status'] || feeMinor !== after['provider_fee_minor'])
  },
  'was settled by the provider and its fee can still change': ({ after }) =>
    after['provider_settled_at'] !== undefined && after['fee_status'] === 'estimated',
  'was settled by the provider at two times': rewrites('provider_settled_at'),
  'has for actual what the provider has not kept': (write) =>
    write.world.providerFees === 'deducted' &&
    becomesFinal(write) &&
    becomes(write, 'fee_status', 'actual') &&
    keptFor(write.world, write.after) !== write.after['provider_fee_minor'],
  'has not the fee of a tariff that is billed later': (write) =>
    write.world.providerFees === 'invoiced' &&
    becomesFinal(write) &&
    write.after['provider_fee_minor'] !== byTariff(write.after),
  'has a net that is not what its fees leave': ({ after }) =>
    after['status'] === 'succeeded' &&
    amount(after, 'net_minor') !==
      amount(after, 'notional_minor') - amount(after, 'provider_fee_minor') - amount(after, 'markup_minor'),
  'has a final fee that moves': (write) =>
    staysSucceeded(write) && isFinal(write.before) && FEE_FIELDS.some((name) => isChanged(write, name)),
  'has its fee assumed before its seven days': (write) =>
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

/** The provider's row, under its own id or the one that it was shown by a second time. */
const rowOf = ({ provider }: World, id: string) =>
  provider.transactionRecords().find((record) => record.id === id || record.duplicateId === id)?.row

type Row = NonNullable<ReturnType<typeof rowOf>>

const TYPES: Readonly<Record<string, (row: Row) => boolean>> = {
  refund: ({ type }) => type === 'REFUND',
  chargeback: ({ type }) => type === 'CHARGEBACK',
  dispute_won: ({ type }) => type === 'CHARGEBACK_REVERSAL',
  reversal: ({ status }) => status === 'VOIDED' || status === 'REVERSED',
}

const feeOf = ({ fee }: Row): number => fee.xendit_fee + fee.value_added_tax

/** What it is about: of a chargeback the disputed amount, without the fee that its row includes. */
const isAmountOf = (row: Row, { type, amountMinor }: Movement): boolean =>
  amountMinor === Math.abs(row.amount) - (type === 'chargeback' ? feeOf(row) : 0)

/** By how much it changes our account at the provider. */
const gainOf = ({ cashflow, net_amount: net }: Row): number => (cashflow === 'MONEY_OUT' ? -1 : 1) * Math.abs(net)

const ofMovements: Rules = {
  'forgets by what its money moved': ({ before, after }) =>
    movementsOf(before).some((one, at) => nameOf(movementsOf(after)[at] ?? one) !== nameOf(one)),
  'has money move by two rows at once, or by one row twice': (write) =>
    newMovements(write).length > 1 ||
    new Set(movementsOf(write.after).map(nameOf)).size !== movementsOf(write.after).length,
  'has money move and keeps its version': ({ before, after }) =>
    ['movements', 'taken_back_minor', 'open_at', 'posted_at', 'late_row_at', 'transaction_id'].some(
      (name) => before['status'] === 'succeeded' && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
    ) && amount(after, 'money_version') !== amount(before, 'money_version') + 1,
  'has money move by a row that says something else': (write) =>
    newMovements(write).some((movement) => {
      const row = rowOf(write.world, movement.transactionId)
      return row !== undefined && !(TYPES[movement.type]?.(row) === true && isAmountOf(row, movement))
    }),
  'has another gain at the provider than its rows': (write) => {
    const gains = newMovements(write).filter(({ type }) => type !== 'reversal')
    return [...(isGiven(write, 'transaction_id') ? ownRowsOf(write.after) : []), ...gains].some((one) => {
      const row = rowOf(write.world, one.transactionId)
      return row !== undefined && gainOf(row) !== one.providerMinor
    })
  },
  'has more taken back than it is worth, or less than nothing': ({ after }) => {
    const [taken, net] = [amount(after, 'taken_back_minor'), amount(after, 'net_minor')]
    return after['is_void'] === true ? taken !== net : taken < 0 || taken > Math.max(0, net)
  },
  'has money move and operators are not told': (write) =>
    newMovements(write).some(
      ({ transactionId, type }) => write.world.table.items(`SUSPENSE#${transactionId}#${type}#`).length === 0,
    ),
  'is posted a second time': rewrites('posted_at'),
  'is opened again': ({ before, after }) => before['posted_at'] !== undefined && after['open_at'] !== undefined,
}

/** A fee is assumed when the provider, asked about this very payment, has no final one. */
const watchAssumed = (world: World): Rules => {
  const asked = new WeakMap<Process, Set<string>>()
  world.onAnswered.push((process, { path, query, outcome }) => {
    const id = query.get('product_id')
    if (path !== '/transactions' || id === null || outcome.kind !== 'answered') return
    if (outcome.status === 200 || outcome.status === 404) addTo(asked, process, id)
  })
  return {
    'has an assumed fee although the provider was not asked': (write) => {
      const id = text(write.after, 'credited_provider_payment_id')
      const isAsked = namesOf(world, write.worker).some((process) => asked.get(process)?.has(id))
      const isAssumed = becomesFinal(write) && write.after['fee_status'] === 'assumed'
      return isAssumed && !isVoidedOpen(write.after) && !isAsked
    },
  }
}

/** Checked at every write to a payment: its fee, and what went back of it, are what the provider's own rows say. */
export const watchFeeFields = (world: World, seen: Observations): void => {
  const rules = { ...ofFees, ...ofMovements, ...watchAssumed(world) }
  watchRules(world, seen, ({ sk }, { after }) => (sk === 'PAYMENT' && isVisible(after) ? rules : undefined))
}
