import { expect, it } from 'vitest'
import { auditPayment } from '../../../shared/audit/judged/audit-payment.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { addMs, DAY_MS, HOUR_MS, MINUTE_MS, type Timestamp } from '../../../shared/time.ts'
import { aClient } from '../../support/client-builders.ts'
import { succeededPayment } from '../../support/paid-builders.ts'

const client = aClient()
const paidAt = addMs(client.createdAt, DAY_MS)
const paid = succeededPayment(client, { paidAt })
const [early, ended] = [addMs(paid.createdAt, -MINUTE_MS), addMs(paidAt, MINUTE_MS)]
const now = addMs(paidAt, 10 * DAY_MS)
const tomorrow = addMs(now, DAY_MS)

type Span = readonly [name: string, from: Timestamp, to: Timestamp, (time: Timestamp) => Partial<Payment>]

it.each<Span>([
  ['expires_at', paid.createdAt, addMs(paid.createdAt, 366 * DAY_MS), (expiresAt) => ({ expiresAt })],
  ['cancel_requested_at', early, ended, (cancelRequestedAt) => ({ cancelRequestedAt })],
  ['expiry_started_at', addMs(paidAt, -MINUTE_MS), ended, (time) => ({ expiresAt: paidAt, expiryStartedAt: time })],
  ['provider_settled_at', addMs(paid.createdAt, -DAY_MS), tomorrow, (providerSettledAt) => ({ providerSettledAt })],
  [
    'final_fee',
    addMs(paidAt, -MINUTE_MS),
    addMs(now, MINUTE_MS),
    (at) => ({ finalFee: { status: 'actual', feeMinor: paid.providerFeeMinor, at } }),
  ],
  ['due_at', early, addMs(tomorrow, 2 * HOUR_MS), (dueAt) => ({ dueAt })],
  ['due_at', early, addMs(now, 2 * HOUR_MS), (dueAt) => ({ dueAt, expiresAt: paidAt })],
  [
    'due_at',
    early,
    addMs(addMs(tomorrow, DAY_MS), 2 * HOUR_MS),
    (dueAt) => ({ dueAt, expiresAt: addMs(tomorrow, DAY_MS) }),
  ],
])('the %s of a payment is possible from %s to %s', (name, from, to, changed) => {
  const found = [addMs(from, -1), from, to, addMs(to, 1)].map((time) =>
    auditPayment({ ...paid, ...changed(time) }, {}, { clientId: client.clientId, now }).map(({ what }) => what),
  )

  expect(found.map((names) => names.includes(`payment.${name}`))).toStrictEqual([true, false, false, true])
})
