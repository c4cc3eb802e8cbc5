import { type ClientId, type PaymentId, slotOf } from '../ids.ts'
import type { Minor } from '../money.ts'
import type { PaymentStatus } from '../payment-status.ts'
import { type Key, shardKey } from '../table/keys.ts'
import { LEDGER_SHARDS } from '../table/schema.ts'
import { exists, type Step, updateFields } from '../table/step.ts'
import type { Timestamp } from '../time.ts'
import type { LedgerShard } from './shard-store.ts'

export const COUNT_FIELD = {
  pending: 'countPending',
  succeeded: 'countSucceeded',
  failed: 'countFailed',
  expired: 'countExpired',
  cancelled: 'countCancelled',
} as const satisfies Record<PaymentStatus, keyof LedgerShard>

export type Placed = { readonly clientId: ClientId; readonly paymentId: PaymentId; readonly part?: number | undefined }

type Counted = Placed & { readonly from: PaymentStatus | undefined; readonly to: PaymentStatus }

/** Where a payment is counted and credited. */
export const shardOf = ({ clientId, paymentId, part }: Placed): Key =>
  shardKey(clientId, slotOf(paymentId, LEDGER_SHARDS), part)

const counts = ({ from, to }: Pick<Counted, 'from' | 'to'>) => ({
  [COUNT_FIELD[to]]: 1,
  ...(from !== undefined && { [COUNT_FIELD[from]]: -1 }),
})

/** Counts a payment in its new status, as a step of the transaction whose condition lets the transition happen once. */
export const countTransition = (counted: Counted): Step =>
  updateFields(shardOf(counted), { add: counts(counted) }, exists)

/** Credits a payment's net and counts it as succeeded, as a step of the transaction that marks it succeeded. */
export const credit = (counted: Omit<Counted, 'to'>, netMinor: Minor, at: Timestamp): Step =>
  updateFields(
    shardOf(counted),
    {
      add: { ...counts({ ...counted, to: 'succeeded' }), creditedMinor: netMinor },
      set: { creditedAt: at },
    },
    exists,
  )
