import { amount, type RawItem, sum, text } from '../../support/books.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { APART_MS, type Rule, setIn, type Write, watchRules } from './rules.ts'

/** What is counted goes on from what was counted before: whoever has read something older keeps nothing. */
const countsOn: Rule<Write> = [
  'is kept over what somebody else has kept',
  ({ before, after }) => amount(after, 'version') !== amount(before, 'version') + 1,
]

const clientOf = ({ key }: Write): string => key.pk.split('#')[1] ?? ''

const paidBy = ({ world }: Write, clientId: string): readonly RawItem[] =>
  world.table
    .items('PAYMENT#')
    .filter((item) => item['client_id'] === clientId && item['status'] === 'succeeded' && item['paid_at'] !== undefined)

const received = (payment: RawItem): number => amount(payment, 'notional_minor') - amount(payment, 'provider_fee_minor')

const paymentIdIn = (payment: RawItem): string => text(payment, 'pk').slice('PAYMENT#'.length)

/** Those from the beginning of the window on, as far as was counted. */
const paidUntil = (write: Write, until: string): readonly RawItem[] =>
  paidBy(write, clientOf(write)).filter(
    (payment) => text(payment, 'paid_at') >= write.key.sk && text(payment, 'paid_at') < until,
  )

const SUMS = [
  ['notional_minor', 'gross_minor'],
  ['provider_fee_minor', 'provider_fees_minor'],
  ['markup_minor', 'markup_minor'],
  ['net_minor', 'net_minor'],
] as const

/** A window's sums are never read again once it is settled. */
const isSettled = ({ world, key }: Write): boolean =>
  world.table
    .items('SETTLEMENT#')
    .some((one) => one['period_start'] === key.sk && `LEDGER#${text(one, 'client_id')}#WINDOWS` === key.pk)

const ofSums: readonly Rule<Write>[] = [
  countsOn,
  [
    'has lost what was summed',
    (write) => !write.isNew && text(write.after, 'until') < text(write.before, 'until') && !isSettled(write),
  ],
  [
    'has sums that are not those of its payments',
    (write) => {
      const paid = paidUntil(write, text(write.after, 'until'))
      return (
        paid.length !== write.after['payment_count'] || SUMS.some(([of, name]) => sum(paid, of) !== write.after[name])
      )
    },
  ],
  [
    'sums a fee that can still change',
    (write) => paidUntil(write, text(write.after, 'until')).some((payment) => payment['fee_status'] === 'estimated'),
  ],
  [
    'says that the provider has paid us what it has not, or not what it has',
    (write) => {
      const waiting = setIn(write.after, 'waiting_ids')
      const paid = paidUntil(write, text(write.after, 'funded_until')).filter((one) => !waiting.has(paymentIdIn(one)))
      const isUnpaid = paid.some((payment) => payment['provider_settled_at'] === undefined)
      return isUnpaid || paid.reduce((total, one) => total + received(one), 0) !== write.after['funded_minor']
    },
  ],
]

const placeOf = (item: RawItem): string => {
  const { paidAt = '', listedAt = '', id = '' } = Object(item['place'])
  return `${paidAt}${listedAt} ${id}`
}

const keepsItsPlace: Rule<Write> = ['has gone back', ({ before, after }) => placeOf(after) < placeOf(before)]

const ofPaid: readonly Rule<Write>[] = [
  countsOn,
  keepsItsPlace,
  [
    'has counted other payments than those that are there',
    (write) => {
      const waiting = setIn(write.after, 'waiting_ids')
      const place = placeOf(write.after)
      const counted = paidBy(write, clientOf(write)).filter(
        (one) => `${text(one, 'paid_at')} ${paymentIdIn(one)}` <= place && !waiting.has(paymentIdIn(one)),
      )
      const { paymentCount = 0, netMinor = 0 } = Object(write.after['sums'])
      return counted.length !== paymentCount || sum(counted, 'net_minor') !== netMinor
    },
  ],
]

const ofSeals: readonly Rule<Write>[] = [
  ['is sealed again', ({ isNew }) => !isNew],
  [
    'is sealed with other sums than those that were settled',
    ({ world, key, after }) => {
      const clientId = key.pk.split('#')[1]
      const settled = world.table
        .items('SETTLEMENT#')
        .find(
          (one) =>
            one['client_id'] === clientId &&
            one['period_start'] === after['period_start'] &&
            one['replaces'] === undefined,
        )
      const names = ['period_end', 'gross_minor', 'provider_fees_minor', 'markup_minor', 'net_minor', 'payment_count']
      return settled === undefined || names.some((name) => settled[name] !== after[name])
    },
  ],
]

/** Payments up to the place, without those that are kept open: what they can still become is nothing. */
const ofBooks: readonly Rule<Write>[] = [
  countsOn,
  keepsItsPlace,
  [
    'is sealed with a payment that can still change',
    (write) => {
      const shards = (write.after['shards'] ?? []) as readonly { readonly countPending?: number }[]
      return shards.some(({ countPending = 0 }) => countPending !== 0)
    },
  ],
]

/** What an operator is told of a comparison changes with it alone. */
const ofComparison: readonly Rule<Write>[] = [
  countsOn,
  ['has gone back', ({ before, after }) => Date.parse(text(after, 'at')) < Date.parse(text(before, 'at')) - APART_MS],
]

/** The head of a chain of audit records, and what is behind it. */
const ofChain: readonly Rule<Write>[] = [
  ['skips a record', ({ before, after }) => amount(after, 'number') !== amount(before, 'number') + 1],
]
const ofRecord: readonly Rule<Write>[] = [
  ['is written a second time', ({ isNew }) => !isNew],
  [
    'does not follow the record before it',
    ({ written, key, after }) => {
      const head = written.find((one) => one.key.pk === `${key.pk}#HEAD`)
      return head?.after?.['number'] !== after['number'] || head?.before?.['digest'] !== after['previous']
    },
  ],
]

/** Checked at every write of what is only counted and kept: sums, seals, comparisons, and the chain of audit records. */
export const watchKept = (world: World, seen: Observations): void =>
  watchRules(world, seen, ({ pk, sk }, { after }) => {
    if (pk.endsWith('#WINDOWS')) return ofSums
    if (pk.startsWith('AUDIT#')) return sk === 'HEAD' ? ofChain : after['number'] === undefined ? [] : ofRecord
    if (!pk.endsWith('#AUDIT')) return []
    if (sk.startsWith('WINDOW#')) return ofSeals
    return sk === 'PAID' ? ofPaid : sk === 'BOOKS' ? ofBooks : sk === 'COMPARED' ? ofComparison : []
  })
