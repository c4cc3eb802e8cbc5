import { slotOf } from '../ids.ts'
import type { Ledger, LedgerShard } from '../ledger/ledger-store.ts'
import { COUNT_FIELD, EMPTY_SHARD } from '../ledger/ledger-store.ts'
import { plus } from '../money.ts'
import type { Payment } from '../payment/payment.ts'
import { LEDGER_SHARDS } from '../table/schema.ts'
import { type Difference, differs } from './difference.ts'

/** What the shards must hold, counted up from the payments themselves. */
export type LedgerTally = { readonly shards: LedgerShard[] }

export const emptyTally = (): LedgerTally => ({ shards: Array.from({ length: LEDGER_SHARDS }, () => EMPTY_SHARD) })

/** Adds one payment. The tally is the only thing an audit keeps of it. */
export const tallyPayment = ({ shards }: LedgerTally, payment: Payment): void => {
  const at = slotOf(payment.paymentId, LEDGER_SHARDS)
  const shard = shards[at] ?? EMPTY_SHARD
  const field = COUNT_FIELD[payment.status]
  shards[at] = {
    ...shard,
    [field]: shard[field] + 1,
    ...(payment.status === 'succeeded' && { creditedMinor: plus(shard.creditedMinor, payment.netMinor) }),
  }
}

const FIELDS = ['creditedMinor', ...Object.values(COUNT_FIELD)] as const

/** Where the shards say something else than the payments. Live traffic makes such differences for a moment. */
export const compareShards = (tally: LedgerTally, ledger: Ledger): readonly Difference[] =>
  tally.shards.flatMap((expected, at) => {
    const found = ledger.shards.find(({ number }) => number === at) ?? EMPTY_SHARD
    return FIELDS.flatMap((field) => differs(`shard.${field}`, String(at), expected[field], found[field]))
  })
