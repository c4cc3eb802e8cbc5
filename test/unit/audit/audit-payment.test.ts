import { expect, it } from 'vitest'
import { auditPayment } from '../../../shared/audit/judged/audit-payment.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { addMs, DAY_MS, HOUR_MS, MINUTE_MS, type Timestamp } from '../../../shared/time.ts'
import { succeededPayment } from '../../support/paid-builders.ts'
import { aClient } from '../../support/payment-builders.ts'

const client = aClient()
const paidAt = addMs(client.createdAt, DAY_MS)
const paid = succeededPayment(client, { paidAt })
const early = addMs(paid.createdAt, -MINUTE_MS)
const [justBefore, ended] = [addMs(paidAt, -MINUTE_MS), addMs(paidAt, MINUTE_MS)]
const fee = { status: 'actual', feeMinor: paid.providerFeeMinor } as const
const now = addMs(paidAt, 10 * DAY_MS)
const tomorrow = addMs(now, DAY_MS)

type Span = readonly [name: string, from: Timestamp, to: Timestamp, (time: Timestamp) => Partial<Payment>]

it.each<Span>([
  ['expires_at', paid.createdAt, addMs(paid.createdAt, 366 * DAY_MS), (expiresAt) => ({ expiresAt })],
  ['cancel_requested_at', early, ended, (cancelRequestedAt) => ({ cancelRequestedAt })],
  ['expiry_started_at', justBefore, ended, (time) => ({ expiresAt: paidAt, expiryStartedAt: time })],
  ['provider_settled_at', addMs(paid.createdAt, -DAY_MS), tomorrow, (providerSettledAt) => ({ providerSettledAt })],
  ['final_fee', justBefore, addMs(now, MINUTE_MS), (at) => ({ finalFee: { ...fee, at } })],
  ['due_at', early, addMs(tomorrow, 2 * HOUR_MS), (dueAt) => ({ dueAt })],
  ['due_at', early, addMs(now, 2 * HOUR_MS), (dueAt) => ({ dueAt, expiresAt: paidAt })],
  ['due_at', early, addMs(tomorrow, 2 * HOUR_MS), (dueAt) => ({ dueAt, expiresAt: tomorrow })],
])('the %s of a payment is possible from %s to %s', (name, from, to, changed) => {
  const found = [addMs(from, -1), from, to, addMs(to, 1)].map((time) =>
    auditPayment({ ...paid, ...changed(time) }, {}, { clientId: client.clientId, now }).map(({ what }) => what),
  )

  expect(found.map((names) => names.includes(`payment.${name}`))).toStrictEqual([true, false, false, true])
})
