import { slotOf } from '../ids.ts'
import { COUNT_FIELD, EMPTY_SHARD, type Ledger, type LedgerShard, shardPlace } from '../ledger/ledger-store.ts'
import { isDeducted, isReinstated } from '../ledger/reversal-store.ts'
import type { Payment } from '../payment/payment.ts'
import { attributeName } from '../table/attributes.ts'
import { LEDGER_SHARDS } from '../table/schema.ts'
import { isBehindReinstated, type ReversalBooks } from './audit-reversals.ts'
import { type Difference, differs } from './difference.ts'

const COUNTED = ['creditedMinor', ...Object.values(COUNT_FIELD)] as const

/** Plain numbers: a tampered amount can be past what money may be, and must be found all the same. */
type ShardTally = Record<(typeof COUNTED)[number], number> & {
  /** True when one of its payments was credited, corrected or taken back at the time the shard says. */
  creditedAtKnown: boolean
}

/** What the shards must hold, counted up from the payments themselves: all that an audit keeps of them. */
export type LedgerTally = { readonly shards: readonly ShardTally[]; readonly found: readonly LedgerShard[] }

/** What sealed payments have put into a shard. */
export type SealedShard = Record<(typeof COUNTED)[number], number> & {
  /** The shard's credited_at when the payment was sealed that it comes from. */
  readonly creditedAt?: string | undefined
}

const emptyShard = (): SealedShard => ({
  creditedMinor: 0,
  countPending: 0,
  countSucceeded: 0,
  countFailed: 0,
  countExpired: 0,
  countCancelled: 0,
})

export const NOTHING_SEALED: readonly SealedShard[] = Array.from({ length: LEDGER_SHARDS }, emptyShard)

/** A client has grown since it was sealed: of the new parts there is nothing yet. */
const forParts = (sealed: readonly SealedShard[], parts: number): readonly SealedShard[] =>
  Array.from({ length: Math.max(sealed.length, parts * LEDGER_SHARDS) }, (_, at) => sealed[at] ?? emptyShard())

const shardAt = (shards: readonly LedgerShard[], at: number): LedgerShard =>
  shards.find(({ number }) => number === at) ?? EMPTY_SHARD

/** `found`: the ledger as it was before the first payment was read. Sealed payments are in the tally already. */
export const emptyTally = (
  { shards: found, parts }: Pick<Ledger, 'shards' | 'parts'>,
  sealed: readonly SealedShard[],
): LedgerTally => ({
  shards: forParts(sealed, parts).map(({ creditedAt, ...sums }, at) => ({
    ...sums,
    creditedAtKnown: creditedAt !== undefined && creditedAt === shardAt(found, at).creditedAt,
  })),
  found,
})

/** What sealed payments add up to, as the next audit begins with it. */
export const sealedShards = ({ shards, found }: LedgerTally, sealed: readonly SealedShard[]): readonly SealedShard[] =>
  shards.map(({ creditedAtKnown, ...sums }, at) => {
    const creditedAt = creditedAtKnown ? shardAt(found, at).creditedAt : sealed[at]?.creditedAt
    return { ...sums, ...(creditedAt !== undefined && { creditedAt }) }
  })

export const tallyPayment = ({ shards, found }: LedgerTally, payment: Payment): void => {
  const at = shardPlace(slotOf(payment.paymentId, LEDGER_SHARDS), payment.part)
  const shard = shards[at]
  if (shard === undefined) return
  shard[COUNT_FIELD[payment.status]]++
  if (payment.status !== 'succeeded') return
  const deductedAt = payment.reversal?.deductedAt
  if (deductedAt === undefined) shard.creditedMinor += payment.netMinor
  const { creditedAt } = shardAt(found, at)
  if (creditedAt === undefined) return
  if ([payment.paidAt, payment.finalFee?.at, deductedAt].includes(creditedAt)) shard.creditedAtKnown = true
}

/**
 * What was put back behind a settlement without it, and deducted from there again. It is read by every audit, and so in no
 * seal: its payment is sealed as it stood before.
 */
export const tallyReversals = ({ shards, found }: LedgerTally, books: ReversalBooks): void => {
  for (const reversal of books.reversals) {
    const payment = books.payments.get(reversal.paymentId)
    const at = payment && shardPlace(slotOf(payment.paymentId, LEDGER_SHARDS), payment.part)
    const shard = at === undefined ? undefined : shards[at]
    if (at === undefined || shard === undefined) continue
    if (isReinstated(reversal)) shard.creditedMinor += reversal.netMinor
    if (isDeducted(reversal) && isBehindReinstated(books, reversal)) shard.creditedMinor -= reversal.netMinor
    if (shardAt(found, at).creditedAt === reversal.at) shard.creditedAtKnown = true
  }
}

const compareShard = (at: number, expected: ShardTally, found: LedgerShard): readonly Difference[] => [
  ...COUNTED.flatMap((field) => differs(`shard.${attributeName(field)}`, String(at), expected[field], found[field])),
  ...(expected.creditedAtKnown || (expected.countSucceeded === 0 && found.creditedAt === undefined)
    ? []
    : differs('shard.credited_at', String(at), 'when one of its payments was credited', found.creditedAt)),
]

const isUnchanged = (before: LedgerShard, after: LedgerShard): boolean =>
  before.creditedAt === after.creditedAt && COUNTED.every((field) => before[field] === after[field])

/**
 * Where the shards say something else than the payments. A shard that is the same before and behind the reading of the
 * payments stood still meanwhile, for its counts only ever go one way; of another one nothing certain can be said.
 */
export const compareShards = (tally: LedgerTally, after: readonly LedgerShard[]) => {
  const standing: Difference[] = []
  const moving: Difference[] = []
  for (const [at, expected] of tally.shards.entries()) {
    const found = shardAt(after, at)
    const differences = compareShard(at, expected, found)
    if (isUnchanged(shardAt(tally.found, at), found)) standing.push(...differences)
    else moving.push(...differences)
  }
  for (const { number } of after) {
    if (number < 0) standing.push(...differs('shard', String(number), 'one of the shards', 'a stray one'))
    // Of a part that the client has got meanwhile: its payments were not read.
    else if (number >= tally.shards.length) moving.push(...differs('shard', String(number), 'none yet', 'one'))
  }
  return { standing, moving }
}
