import { amount, type RawItem, text } from '../../support/books.ts'
import type { Process } from '../world/process.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { isRewritten, type Rule, type Write, watchRules } from './rules.ts'

const FIXED = [
  'client_id',
  'swept_from',
  'swept_until',
  'gross_minor',
  'provider_fees_minor',
  'markup_minor',
  'net_minor',
  'payment_count',
  'recredited_minor',
  'unproven_minor',
  'entry_count',
  'digest',
  'totals',
  'previous_id',
  'triggered_by',
  'bank',
  'bank_reference',
  'created_at',
  'settled_at',
  'recredited_at',
]

/** So long a function may take from its read of a client to what it writes. */
const RUN_MS = 5 * 60_000
const NEW_BANK_MS = 3 * 86_400_000

/** Of the client, beside this one. */
const others = ({ world, after }: Write): readonly RawItem[] =>
  world.table
    .items('SETTLEMENT#')
    .filter((one) => one['client_id'] === after['client_id'] && one['settlement_id'] !== after['settlement_id'])

const whenRecorded: readonly Rule<Write>[] = [
  [
    'does not begin as recorded, to be paid out',
    ({ after }) => after['status'] !== 'recorded' || after['work'] !== 'payout',
  ],
  [
    'begins with an end',
    ({ after }) => ['settled_at', 'recredited_at', 'notes', 'bank_reference'].some((name) => after[name] !== undefined),
  ],
  [
    'does not add up',
    ({ after }) =>
      amount(after, 'gross_minor') - amount(after, 'provider_fees_minor') - amount(after, 'markup_minor') !==
      after['net_minor'],
  ],
  ['is of no time', ({ after }) => text(after, 'swept_from') >= text(after, 'swept_until')],
  [
    'is of a span that another one has',
    (write) =>
      others(write).some(
        (one) =>
          text(one, 'swept_from') < text(write.after, 'swept_until') &&
          text(write.after, 'swept_from') < text(one, 'swept_until'),
      ),
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
    'is paid out without the reference of its transfer',
    ({ after }) => (after['status'] === 'manual_paid') !== (after['bank_reference'] !== undefined),
  ],
]

/** Who pays out what, and what they say they know. */
type Asked = Readonly<Record<string, unknown>>

const payoutRules = (asked: Asked): readonly Rule<Write>[] => [
  [
    'is paid out to a new account that no operator has confirmed',
    ({ before, nowMs }) => {
      const { since, isChange } = Object(before['bank'])
      const isNew = isChange === true && nowMs < Date.parse(since) + NEW_BANK_MS - 20_000
      return isNew && Object(asked['confirm']).new_bank !== true
    },
  ],
  [
    'is paid out and no operator has confirmed what is unproven of it',
    ({ before }) => (Object(asked['confirm']).unproven ?? 0) !== amount(before, 'unproven_minor'),
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
      if (listedMs === undefined) return false
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
