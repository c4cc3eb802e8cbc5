import * as v from 'valibot'
import { announce } from '../callbacks.ts'
import { ProviderError, parseInput } from '../provider-error.ts'
import { isOpen, type Payment, type PaymentRequest } from '../provider-objects.ts'
import type { RequestRecord } from '../simulator-store.ts'
import { requireRequest, timestampNow, type World } from '../world.ts'
import { paymentOf } from './simulate-payment.ts'

/**
 * `POST /v3/payment_requests/{id}/cancel`. No callback follows, as upstream. Throws `INACTIVE_PAYMENT_REQUEST`, and for a
 * push that the payer can still answer `INELIGIBLE_TRANSACTION_STATUS`: only what waits for an action can be cancelled.
 */
export const cancelRequest = (world: World, id: string): PaymentRequest => {
  const record = requireOpen(world, id)
  if (record.request.status !== 'REQUIRES_ACTION') {
    const message = `Payment request cannot be cancelled because of its current status ${record.request.status}`
    throw new ProviderError('INELIGIBLE_TRANSACTION_STATUS', message)
  }
  return close(world, record, { status: 'CANCELED' })
}

/** Ends an unpaid request, and announces it. Throws `INACTIVE_PAYMENT_REQUEST`. */
export const expireRequest = (world: World, id: string): PaymentRequest => {
  const expired = close(world, requireOpen(world, id), { status: 'EXPIRED' })
  announce(world, 'payment_request.expiry', expired)
  return expired
}

/** Expires a request whose time has come; one that is already final stays as it is. */
export const expireWhenDue = (world: World, id: string) => {
  const record = world.store.requests.get(id)
  if (record && isOpen(record.request)) expireRequest(world, id)
}

const FailBody = v.nullish(v.object({ failure_code: v.optional(v.pipe(v.string(), v.regex(/^[A-Z0-9_]{1,64}$/))) }))

/** Lets the payer's attempt fail: a FAILED payment, a FAILED request, and their callback. */
export const failRequest = (world: World, id: string, body: unknown): PaymentRequest => {
  const record = requireOpen(world, id)
  const failureCode = parseInput(FailBody, body)?.failure_code ?? 'USER_DECLINED_PAYMENT'
  const payment: Payment = { ...paymentOf(world, record.request), status: 'FAILED', failure_code: failureCode }
  world.store.payments.put({ id: payment.payment_id, payment })
  const failed = close(world, record, {
    status: 'FAILED',
    failure_code: failureCode,
    latest_payment_id: payment.payment_id,
  })
  announce(world, 'payment.failure', payment)
  return failed
}

const requireOpen = (world: World, id: string): RequestRecord => {
  const record = requireRequest(world, id)
  if (isOpen(record.request)) return record
  throw new ProviderError('INACTIVE_PAYMENT_REQUEST', `Payment request is already ${record.request.status}`)
}

type Closing = Pick<PaymentRequest, 'status' | 'failure_code' | 'latest_payment_id'>

const close = (world: World, record: RequestRecord, closing: Closing): PaymentRequest => {
  const request = { ...record.request, ...closing, updated: timestampNow(world) }
  world.store.requests.put({ ...record, request })
  return request
}
