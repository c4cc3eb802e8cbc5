import { isDeepStrictEqual } from 'node:util'
import type { TableDeps } from '../../deps.ts'
import { PaymentIdSchema } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { MAX_SHOWN, shownMoney } from '../../payment/held-money.ts'
import type { Payment } from '../../payment/payment.ts'
import { PaymentSchema } from '../../payment/payment-store.ts'
import { shownDispute } from '../../suspense/dispute.ts'
import { NotedSchema, type Suspense, SuspenseSchema } from '../../suspense/suspense.ts'
import { notedKey, paymentKey, suspenseKey } from '../../table/keys.ts'
import type { Reads } from '../../table/table.ts'
import { addMs } from '../../time.ts'
import { compare, onlyIf } from '../../verdict/difference.ts'
import { UNSEEN_MS } from './audit-events.ts'

/** A payment shows its dispute and its held money as their items in suspense say them. */
export async function judgeShown(deps: TableDeps, payments: readonly Payment[], reads: Reads) {
  const showing = payments.filter(({ dispute, held }) => dispute ?? held)
  const items = await itemsShown(deps, showing, reads)
  return showing.flatMap((payment) => {
    const { paymentId: id, dispute, held = [] } = payment
    const disputed = dispute && items.get(dispute.caseId)
    const heldNow = held.map(({ suspenseId }) => {
      const item = items.get(suspenseId)
      return item && shownMoney(item)
    })
    return [
      ...shownDifference('dispute', id, disputed && shownDispute(disputed), dispute),
      ...shownDifference('held', id, heldNow, held),
    ]
  })
}

/** An item has what its row in the register says, because a recount brings it back so. */
async function itemsShown(deps: TableDeps, payments: readonly Payment[], reads: Reads) {
  const named = payments.flatMap(({ clientId, dispute, held = [] }) =>
    [...(dispute ? [dispute.caseId] : []), ...held.map((shown) => shown.suspenseId)].map(
      (suspenseId) => ({ suspenseId, clientId }),
    ),
  )
  const keys = named.map(({ suspenseId }) => suspenseKey(suspenseId))
  const stored = await deps.table.getMany(keys, reads)
  const notes = await deps.table.getMany(named.map(notedKey), reads)
  const items = named.map(({ suspenseId }, at) => {
    const item = ifValid(SuspenseSchema, stored[at])
    return [suspenseId, item && { ...item, ...ifValid(NotedSchema, notes[at]) }] as const
  })
  return new Map(items)
}

function shownDifference(name: 'dispute' | 'held', id: string, derived: unknown, shown: unknown) {
  const difference = compare(`payment.${name}`, id, 'as suspense says', 'different')
  return onlyIf(!isDeepStrictEqual(derived, shown), difference)
}

/**
 * The payment that held money names shows it, unless ten newer items are shown, or the money was
 * held before its merchant could see the payment: its commit may take a minute, and clocks differ.
 */
export async function auditShownMoney(deps: TableDeps, item: Suspense) {
  const { suspenseId, clientId, createdAt } = item
  const paymentId = ifValid(PaymentIdSchema, item.paymentId)
  if (shownMoney(item) === undefined || paymentId === undefined || clientId === undefined) return []
  const [stored] = await deps.table.getMany([paymentKey(paymentId)])
  const payment = ifValid(PaymentSchema, stored)
  if (payment?.clientId !== clientId || createdAt < addMs(payment.createdAt, UNSEEN_MS)) return []
  const { held = [] } = payment
  const isShown = held.some((shown) => shown.suspenseId === suspenseId)
  const isOlder = held.length >= MAX_SHOWN && held.every(({ at }) => at >= createdAt)
  return onlyIf(!isShown && !isOlder, compare('payment.held', paymentId, suspenseId, 'missing'))
}
