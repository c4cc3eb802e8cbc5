import * as v from 'valibot'
import type { Client } from '../../shared/client/client.ts'
import { type PaymentId, PaymentIdSchema, slotOf } from '../../shared/ids.ts'
import { minor } from '../../shared/money.ts'
import type { Payment } from '../../shared/payment/payment.ts'
import { findStoredPayment } from '../../shared/payment/payment-store.ts'
import type { Settlement } from '../../shared/settlement/settlement.ts'
import { LEDGER_SHARDS } from '../../shared/table/schema.ts'
import { addMs, DAY_MS, HOUR_MS, type Timestamp } from '../../shared/time.ts'
import { memoryDeps } from '../support/memory-deps.ts'
import { anOpenPayment, aSucceededPayment, postAssumed } from '../support/paid-builders.ts'
import { aDayLater, auditedNow, BANK, fail, sweptNow, withFloor } from '../support/settlement-builders.ts'
import { adjust, chargebackRow, hear } from './actions.ts'
import { type Base, baseOf } from './partial-table.ts'
import { chance } from './scheduler.ts'

/** A client in the middle of everything. What the actions of a scenario are about. */
export type BusyClient = {
  readonly base: Base
  readonly now: Timestamp
  readonly client: Client
  /** In a settlement that is recorded and audited. */
  readonly paid: Payment
  /** In the settlement that failed; a chargeback took a part of it back. */
  readonly disputed: Payment
  /** Open, with settled rows at the provider; the first two of one shard. */
  readonly open: readonly [Payment, Payment, Payment]
  /** Posted without its settled row. */
  readonly assumed: Payment
  readonly recorded: Settlement
  readonly failed: Settlement
}

/** Two shards have all the payments: the one of adjustments, and one more. */
const idIn = (shard: number, number: number): PaymentId => {
  for (let tried = 0; ; tried++) {
    const text = `${String(number).padStart(8, '0')}-0000-8000-8000-${String(tried).padStart(12, '0')}`
    const id = v.parse(PaymentIdSchema, text)
    if (slotOf(id, LEDGER_SHARDS) === shard) return id
  }
}

/** By default three payments wait for their settlement. */
export const busyClient = async (waiting = 3): Promise<BusyClient> => {
  const deps = memoryDeps(chance('world'))
  const client = await withFloor(deps, 0, { bank: BANK })
  const disputed = await aSucceededPayment(deps, client, { paymentId: idIn(5, 1) })
  aDayLater(deps)
  const failed = await fail(deps, await sweptNow(deps, client))
  const paid = await aSucceededPayment(deps, client, { paymentId: idIn(5, 2) })
  aDayLater(deps)
  const recorded = await sweptNow(deps, client)
  await auditedNow(deps, recorded)
  await hear(chargebackRow(disputed, deps.now()), disputed)(deps)
  await adjust(client, { kind: 'written_off', amountMinor: 20_000, reference: 'given up' })(deps)
  for (let at = 0; at < waiting; at++) {
    await aSucceededPayment(deps, client, { paymentId: idIn(at % 2 === 0 ? 5 : 0, 10 + at), notionalMinor: 50_000 })
    deps.clock.set(addMs(deps.now(), 10))
  }
  const assumed = await postAssumed(deps, await anOpenPayment(deps, client, { paymentId: idIn(5, 3) }))
  const anOpen = (shard: number, number: number) =>
    anOpenPayment(deps, client, { paymentId: idIn(shard, number), notionalMinor: 100_000 + number })
  const open = [await anOpen(5, 4), await anOpen(5, 5), await anOpen(0, 6)] as const
  deps.clock.set(addMs(deps.now(), DAY_MS + HOUR_MS))
  const now = async (payment: Payment): Promise<Payment> => {
    const stored = await findStoredPayment(deps, payment.paymentId)
    return stored?.status === 'succeeded' ? stored : payment
  }
  return {
    base: baseOf(deps.stored.items()),
    now: deps.now(),
    client,
    paid: await now(paid),
    disputed: await now(disputed),
    open,
    assumed,
    recorded,
    failed: { ...failed, netMinor: minor(failed.netMinor) },
  }
}
