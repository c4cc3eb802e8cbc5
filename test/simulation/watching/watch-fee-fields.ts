import { amount, type RawItem, text } from '../../support/books.ts'
import { namesOf } from '../world/names-of.ts'
import type { Process } from '../world/process.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { isChanged, isRewritten, type Rule, type Write, watchRules } from './rules.ts'

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
const isFinal = ({ fee_status: status }: RawItem) => status === 'actual' || status === 'assumed'
const becomesFinal = ({ before, after }: Write) => isFinal(after) && !isFinal(before)

/** What the provider's row of the money a payment was credited with shows that it kept, once that is final. */
const keptFor = ({ provider }: World, payment: RawItem): number | undefined => {
  const found = provider.rowsAsTheyStand().find(
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

const ofFees: readonly Rule<Write>[] = [
  [
    'begins with another markup than a thousandth',
    ({ before, after }) =>
      !isVisible(before) && after['markup_minor'] !== Math.floor(amount(after, 'notional_minor') / 1_000),
  ],
  [
    'is not estimated by the tariff',
    ({ before, after }) => !isVisible(before) && !isFinal(after) && after['provider_fee_minor'] !== byTariff(after),
  ],
  ['has another markup than before', (write) => isVisible(write.before) && isRewritten(write, 'markup_minor')],
  ['has a fee that is final before it has succeeded', ({ after }) => isFinal(after) && after['status'] !== 'succeeded'],
  ['says twice how its fee became final', (write) => isRewritten(write, 'final_fee')],
  [
    'says otherwise how its fee became final',
    ({ after }) => {
      const { status, feeMinor } = Object(after['final_fee'])
      return isFinal(after) && (status !== after['fee_status'] || feeMinor !== after['provider_fee_minor'])
    },
  ],
  ['was settled by the provider at two times', (write) => isRewritten(write, 'provider_settled_at')],
  [
    'has for actual what the provider has not kept',
    (write) =>
      write.world.providerFees === 'deducted' &&
      becomesFinal(write) &&
      write.after['fee_status'] === 'actual' &&
      keptFor(write.world, write.after) !== write.after['provider_fee_minor'],
  ],
  [
    'has not the fee of a tariff that is billed later',
    (write) =>
      write.world.providerFees === 'invoiced' &&
      becomesFinal(write) &&
      write.after['provider_fee_minor'] !== byTariff(write.after),
  ],
]

type Movement = { readonly type: string; readonly transactionId: string; readonly providerMinor: number }
const movementsOf = (item: RawItem): readonly Movement[] => (item['movements'] ?? []) as readonly Movement[]
const newMovements = ({ before, after }: Write) => movementsOf(after).slice(movementsOf(before).length)

/** The provider's row, under its own id or the one that it was shown by a second time. */
const rowOf = ({ provider }: World, id: string) =>
  provider.rowsAsTheyStand().find((record) => record.id === id || record.duplicateId === id)?.row

const nameOf = ({ type, transactionId }: Movement) => `${type} ${transactionId}`

const ofMovements: readonly Rule<Write>[] = [
  [
    'forgets by what its money moved',
    ({ before, after }) => movementsOf(before).some((one, at) => nameOf(one) !== nameOf(movementsOf(after)[at] ?? one)),
  ],
  ['has its money moved by two rows at once', (write) => newMovements(write).length > 1],
  [
    'has its money moved twice by one row',
    ({ after }) => new Set(movementsOf(after).map(nameOf)).size < movementsOf(after).length,
  ],
  [
    'has its money moved by no row of the provider',
    (write) => newMovements(write).some(({ transactionId }) => rowOf(write.world, transactionId) === undefined),
  ],
  [
    'has money moved and nobody is told',
    (write) =>
      newMovements(write).some((one) => write.world.table.items(`SUSPENSE#${one.transactionId}#`).length === 0),
  ],
]

/** A payment's place among the open ones, and its entries, by what it says. */
const ofPosting: readonly Rule<Write>[] = [
  [
    'has succeeded and is neither open nor posted, or both',
    ({ after }) =>
      (after['status'] === 'succeeded') !== (after['open_at'] !== undefined || after['posted_at'] !== undefined) ||
      (after['open_at'] !== undefined && after['posted_at'] !== undefined),
  ],
  ['is posted at another time than before', (write) => isRewritten(write, 'posted_at')],
  [
    'changes its net after it was posted',
    (write) => write.before['posted_at'] !== undefined && isRewritten(write, 'net_minor'),
  ],
  [
    'moves money and keeps its money_version',
    (write) => {
      const moves = ['posted_at', 'movements', 'late_row_at', 'net_minor']
      const isMoved = write.before['status'] === 'succeeded' && moves.some((name) => isChanged(write, name))
      const isSame = moves.every((name) => JSON.stringify(write.before[name]) === JSON.stringify(write.after[name]))
      return isMoved && !isSame && !isChanged(write, 'money_version')
    },
  ],
]

/** A fee is assumed when the provider, asked about this very payment, has no final one. */
const watchAssumed = (world: World): Rule<Write> => {
  const asked = new WeakMap<Process, Set<string>>()
  world.onAnswered.push((process, { path, query, outcome }) => {
    const id = query.get('product_id')
    if (path !== '/transactions' || id === null || outcome.kind !== 'answered') return
    if (outcome.status === 200 || outcome.status === 404) asked.set(process, (asked.get(process) ?? new Set()).add(id))
  })
  return [
    'has an assumed fee although nobody has asked the provider',
    (write) =>
      becomesFinal(write) &&
      write.after['fee_status'] === 'assumed' &&
      !isChanged(write, 'reversal') &&
      !namesOf(world, write.acting).some((process) =>
        asked.get(process)?.has(text(write.after, 'credited_provider_payment_id')),
      ),
  ]
}

/** Checked at every write to a payment: its fee, and what went back of it, are what the provider's own rows say. */
export const watchFeeFields = (world: World, seen: Observations): void => {
  const rules = [...ofFees, ...ofMovements, ...ofPosting, watchAssumed(world)]
  watchRules(world, seen, ({ sk }, { after }) => (sk === 'PAYMENT' && isVisible(after) ? rules : []))
}
