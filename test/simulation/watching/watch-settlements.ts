import { amount, type RawItem, text } from '../../support/books.ts'
import type { Process } from '../world/process.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { isChanged, isRewritten, type Rule, setMoved, type Write, watchRules } from './rules.ts'

const FIXED = [
  'client_id',
  'period_start',
  'period_end',
  'gross_minor',
  'provider_fees_minor',
  'markup_minor',
  'net_minor',
  'payment_count',
  'triggered_by',
  'bank',
  'replaces',
  'created_at',
  'settled_at',
  'recredited_at',
]

const REVERSED = ['reversed_gross_minor', 'reversed_provider_fees_minor', 'reversed_markup_minor', 'reversed_net_minor']
const SUMS = ['gross_minor', 'provider_fees_minor', 'markup_minor', 'net_minor'] as const

/** So long a function may take from its read of a client to what it writes. */
const RUN_MS = 5 * 60_000
const NEW_BANK_MS = 3 * 86_400_000

const byId = ({ table }: World, id: unknown): RawItem | undefined =>
  table.item({ pk: `SETTLEMENT#${String(id)}`, sk: 'SETTLEMENT' })

/** Of the client, beside this one. */
const others = ({ world, after }: Write): readonly RawItem[] =>
  world.table
    .items('SETTLEMENT#')
    .filter((one) => one['client_id'] === after['client_id'] && one['settlement_id'] !== after['settlement_id'])

/** Money of its payments that went back and has not come again: what whoever pays it out must say it knows. */
const toConfirm = (settlement: RawItem): number => {
  const [gone, undone] = [amount(settlement, 'reversed_count'), amount(settlement, 'undone_count')]
  return gone > undone ? gone : 0
}

const grows = ({ before, after }: Write, attribute: string) => amount(after, attribute) - amount(before, attribute)

const whenRecorded: readonly Rule<Write>[] = [
  [
    'does not begin as recorded, to be paid out',
    ({ after }) => after['status'] !== 'recorded' || after['work'] !== 'payout',
  ],
  [
    'begins with an end',
    ({ after }) => ['settled_at', 'recredited_at', 'notes', ...REVERSED].some((name) => after[name] !== undefined),
  ],
  [
    'does not add up',
    ({ after }) =>
      amount(after, 'gross_minor') - amount(after, 'provider_fees_minor') - amount(after, 'markup_minor') !==
      after['net_minor'],
  ],
  ['is of no time', ({ after }) => text(after, 'period_start') >= text(after, 'period_end')],
  [
    'is of a span that another one has',
    (write) =>
      write.after['replaces'] === undefined &&
      others(write).some(
        (one) =>
          text(one, 'period_start') < text(write.after, 'period_end') &&
          text(write.after, 'period_start') < text(one, 'period_end'),
      ),
  ],
  [
    'takes the place of one that does not wait for it',
    (write) => {
      const { replaces } = write.after
      if (replaces === undefined) return false
      const replaced = byId(write.world, replaces)
      const isWaiting = replaced?.['status'] === 'failed' && replaced['recredited_at'] !== undefined
      return !isWaiting || others(write).some((one) => one['replaces'] === replaces)
    },
  ],
  [
    'is not what remains of the one in whose place it is',
    ({ world, after }) => {
      const replaced = after['replaces'] === undefined ? undefined : byId(world, after['replaces'])
      if (replaced === undefined) return false
      const spans = ['period_start', 'period_end', 'client_id'].every((name) => replaced[name] === after[name])
      return (
        !spans || SUMS.some((name) => amount(replaced, name) - amount(replaced, `reversed_${name}`) !== after[name])
      )
    },
  ],
]

const always: readonly Rule<Write>[] = [
  ['is written otherwise than it was', (write) => FIXED.some((name) => isRewritten(write, name))],
  [
    'has left the list of payouts, or stands on it, wrongly',
    ({ after }) => (after['status'] === 'recorded') !== (after['work'] === 'payout'),
  ],
  [
    'was paid out at no time, or at one without being paid out',
    ({ after }) => (after['status'] === 'manual_paid') !== (after['settled_at'] !== undefined),
  ],
  [
    'is re-credited and has not failed',
    ({ after }) => after['recredited_at'] !== undefined && after['status'] !== 'failed',
  ],
  [
    'is paid out, and yet more of its money goes back here',
    (write) =>
      write.before['status'] === 'manual_paid' &&
      (isChanged(write, 'reversed_count') || setMoved(write, 'reversed_payment_ids').added.length > 0),
  ],
  ['counts what went back otherwise than one by one', (write) => ![0, 1].includes(grows(write, 'reversed_count'))],
  ['counts what came again otherwise than one by one', (write) => ![0, 1].includes(grows(write, 'undone_count'))],
  [
    'has more come again than went back',
    ({ after }) => amount(after, 'undone_count') > amount(after, 'reversed_count'),
  ],
  [
    'has money come again although a re-credit has left it out',
    (write) => write.before['recredited_at'] !== undefined && isChanged(write, 'undone_count'),
  ],
  [
    'loses or gains sums without a payment that went back or came again',
    (write) => {
      const { added, removed } = setMoved(write, 'reversed_payment_ids')
      const sums = (ids: readonly unknown[], name: string) =>
        ids.reduce<number>((total, id) => {
          const payment = write.world.table.item({ pk: `PAYMENT#${String(id)}`, sk: 'PAYMENT' }) ?? {}
          return total + amount(payment, name)
        }, 0)
      return grows(write, 'reversed_net_minor') !== sums(added, 'net_minor') - sums(removed, 'net_minor')
    },
  ],
]

/** Who pays out what, and what they say they know. */
type Asked = Readonly<Record<string, unknown>>

const payoutRules = (asked: Asked): readonly Rule<Write>[] => [
  [
    'is paid out though nobody has said how much of it went back',
    ({ before }) => toConfirm(before) !== Number(asked['confirm_reversed'] ?? 0),
  ],
  [
    'is paid out to a new account that nobody has confirmed',
    ({ before, nowMs }) => {
      const { since, replaces } = Object(before['bank'])
      return replaces === true && nowMs < Date.parse(since) + NEW_BANK_MS - 20_000 && asked['confirm_new_bank'] !== true
    },
  ],
]

/** Checked at every write to a settlement: what spec 3.2 and design sections 4, 10 and 11 let it do. */
export const watchSettlementRows = (world: World, seen: Observations): void => {
  const asked = new WeakMap<Process, Asked>()
  /** Bank details a client had, and until when. */
  const banks = new Map<string, { readonly bank: string; untilMs: number }[]>()

  world.onStarted.push((process, event) => {
    if (process.name === 'mark-settlement-paid') asked.set(process, Object(event))
  })
  world.onChange.push(({ key, after }) => {
    if (key.sk !== 'CLIENT' || after === undefined) return
    const had = banks.get(text(after, 'client_id')) ?? []
    const last = had.at(-1)
    if (last) last.untilMs = world.scheduler.nowMs()
    had.push({ bank: JSON.stringify(after['bank']), untilMs: Number.POSITIVE_INFINITY })
    banks.set(text(after, 'client_id'), had)
  })

  const toOldAccount: Rule<Write> = [
    'is to go to an account that its client had before',
    ({ after, nowMs }) =>
      !(banks.get(text(after, 'client_id')) ?? []).some(
        ({ bank, untilMs }) => bank === JSON.stringify(after['bank']) && untilMs > nowMs - RUN_MS,
      ),
  ]

  /** Design section 4: the floor and the account are those of the record's moment, and not of the one before the summing. */
  const toAccountOfBefore: Rule<Write> = [
    'is to go to an account that its client had before its payments were read',
    ({ after, acting }) => {
      const listedMs = acting && world.listedMs.get(acting)
      if (after['replaces'] !== undefined || listedMs === undefined) return false
      return !(banks.get(text(after, 'client_id')) ?? []).some(
        ({ bank, untilMs }) => bank === JSON.stringify(after['bank']) && untilMs >= listedMs,
      )
    },
  ]

  watchRules(world, seen, ({ sk }, { isNew, before, after, acting }) => {
    if (sk !== 'SETTLEMENT') return []
    if (isNew) return [...whenRecorded, toOldAccount, toAccountOfBefore, ...always.slice(1, 3)]
    const isPaid = before['status'] !== 'manual_paid' && after['status'] === 'manual_paid'
    return isPaid ? [...always, ...payoutRules((acting && asked.get(acting)) ?? {})] : always
  })
}
