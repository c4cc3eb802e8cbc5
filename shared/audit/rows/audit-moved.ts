import type { TableDeps } from '../../deps.ts'
import { type ClientId, PaymentIdSchema } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { PaymentSchema } from '../../payment/payment-store.ts'
import type { Settlement } from '../../settlement/settlement.ts'
import { isMoved, type Noted } from '../../suspense/suspense.ts'
import { notedPages } from '../../suspense/suspense-store.ts'
import { paymentKey } from '../../table/keys.ts'
import { addMs, DAY_MS, MINUTE_MS } from '../../time.ts'
import type { Difference } from '../../verdict/difference.ts'
import { judgeEntries } from './judge-entries.ts'

/**
 * The payments of booked movements have all their entries. The register of suspense still names a
 * payment when the entry that named it is lost.
 */
export async function auditMoved(
  deps: TableDeps,
  items: readonly Pick<Noted, 'cause' | 'paymentId' | 'clientId'>[],
) {
  const named = items.flatMap((item) => {
    const paymentId = ifValid(PaymentIdSchema, item.paymentId)
    return paymentId && isMoved(item) ? [{ paymentId, clientId: item.clientId }] : []
  })
  const ownerOf = new Map(named.map(({ paymentId, clientId }) => [paymentId, clientId] as const))
  const stored = await deps.table.getMany([...ownerOf.keys()].map(paymentKey))
  const own = stored.flatMap((item) => {
    const payment = ifValid(PaymentSchema, item)
    return payment && payment.clientId === ownerOf.get(payment.paymentId) ? [payment] : []
  })
  const options = { reads: 'consistent', knownItems: [] } as const
  const found: Difference[] = []
  for (const [clientId, payments] of Map.groupBy(own, (payment) => payment.clientId))
    found.push(...(await judgeEntries(deps, clientId, payments, options)))
  return found
}

/** The entry of a movement is eligible a day after its payment was paid. Clocks differ a little. */
const ELIGIBLE_WITHIN_MS = DAY_MS + 5 * MINUTE_MS

/** The movements whose entries the settlements may have. Reads the client's whole register. */
export async function auditMovedIn(
  deps: TableDeps,
  clientId: ClientId,
  settlements: readonly Settlement[],
) {
  const spans = settlements.map(({ sweptFrom, sweptUntil }) => [
    addMs(sweptFrom, -ELIGIBLE_WITHIN_MS),
    addMs(sweptUntil, 5 * MINUTE_MS),
  ])
  const isIn = ({ createdAt }: Noted) =>
    spans.some(([from = '', until = '']) => createdAt >= from && createdAt <= until)
  const found: Difference[] = []
  for await (const noted of notedPages(deps, clientId))
    found.push(...(await auditMoved(deps, noted.filter(isIn))))
  return found
}
