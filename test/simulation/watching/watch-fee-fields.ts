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
  [
    'was settled by the provider and its fee can still change',
    ({ world, key, after }) =>
      after['provider_settled_at'] !== undefined &&
      after['fee_status'] === 'estimated' &&
      // A row that nobody can believe says when all the same.
      world.table.item({ pk: `SUSPENSE#${key.pk.slice('PAYMENT#'.length)}#fee_changed`, sk: 'SUSPENSE' }) === undefined,
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

type Reversal = {
  readonly amountMinor?: number
  readonly wholeAt?: string
  readonly undoneAt?: string
  readonly deductedAt?: string
  readonly whole?: {
    readonly transactionId: string
    readonly kind: string
    readonly amountMinor: number
    readonly beyond?: true
  }
}
const reversalOf = (item: RawItem): Reversal => item['reversal'] ?? {}
const idsOf = (item: RawItem): ReadonlySet<string> => (item['reversal_ids'] ?? new Set()) as ReadonlySet<string>
const newIds = ({ before, after }: Write) => [...idsOf(after)].filter((id) => !idsOf(before).has(id))

/** The provider's row, under its own id or the one that it was shown by a second time. */
const rowOf = ({ provider }: World, id: string | undefined) =>
  provider.rowsAsTheyStand().find((record) => id !== undefined && (record.id === id || record.duplicateId === id))?.row

const TURNED = ['VOIDED', 'REVERSED']
const isAll = (row: NonNullable<ReturnType<typeof rowOf>>, payment: RawItem): boolean =>
  TURNED.includes(row.status) || Math.abs(row.amount) >= amount(payment, 'notional_minor')

/** What of it had gone back and had not come again. */
const stood = ({ amountMinor = 0, undoneAt, whole }: Reversal): number =>
  undoneAt !== undefined && whole ? amountMinor - whole.amountMinor : amountMinor

const ofReversals: readonly Rule<Write>[] = [
  ['forgets by what money went back', ({ before, after }) => [...idsOf(before)].some((id) => !idsOf(after).has(id))],
  [
    'has money go back or come again by nothing, or by two things at once',
    (write) => {
      const moved = JSON.stringify(write.before['reversal']) !== JSON.stringify(write.after['reversal'])
      return newIds(write).length !== (moved ? 1 : 0)
    },
  ],
  [
    'goes back whole by a part of it',
    (write) => {
      const row = rowOf(write.world, newIds(write)[0])
      const isWhole = reversalOf(write.after).wholeAt !== undefined && reversalOf(write.before).wholeAt === undefined
      return isWhole && row !== undefined && !isAll(row, write.after)
    },
  ],
  [
    'comes again by what is not all that one dispute took',
    (write) => {
      const [was, is] = [reversalOf(write.before), reversalOf(write.after)]
      const row = rowOf(write.world, newIds(write)[0])
      if (is.undoneAt === undefined || is.undoneAt === was.undoneAt) return false
      const isMeant =
        row?.type === 'CHARGEBACK_REVERSAL' && Math.abs(row.amount) >= amount(write.after, 'notional_minor')
      return !isMeant || was.wholeAt === undefined || was.whole?.kind !== 'chargeback' || was.whole.beyond === true
    },
  ],
  [
    'has another amount gone back than the provider says',
    (write) => {
      const [id] = newIds(write)
      const row = rowOf(write.world, id)
      if (row === undefined) return false
      const [was, is] = [reversalOf(write.before), reversalOf(write.after)]
      const isUndone = row.type === 'CHARGEBACK_REVERSAL'
      return is.amountMinor !== (isUndone ? was.amountMinor : stood(was) + Math.abs(row.amount))
    },
  ],
  [
    'is deducted and its fee can still change',
    ({ after }) => reversalOf(after).deductedAt !== undefined && after['fee_status'] === 'estimated',
  ],
  [
    'has money go back and nobody is told',
    (write) => newIds(write).some((id) => write.world.table.items(`SUSPENSE#${id}#`).length === 0),
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
  const rules = [...ofFees, ...ofReversals, watchAssumed(world)]
  watchRules(world, seen, ({ sk }, { after }) => (sk === 'PAYMENT' && isVisible(after) ? rules : []))
}
