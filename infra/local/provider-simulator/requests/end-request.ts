import * as v from 'valibot'
import { announce } from '../callbacks.ts'
import { numberOf, takeFault } from '../faults.ts'
import { ProviderError, parseInput } from '../provider-error.ts'
import { isOpen, type Payment } from '../provider-objects.ts'
import { bookCapture } from '../transactions/transaction-rows.ts'
import {
  closeRequest,
  paymentOf,
  payRequest,
  requireRequest,
  timestampNow,
  type World,
} from '../world.ts'

const SimulateBody = v.nullish(
  v.object({
    amount: v.optional(
      v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(1_000_000_000_000)),
    ),
  }),
)

/**
 * `POST /v3/payment_requests/{id}/simulate`: the payer pays. Only the callback is sent later. The
 * amount comes from the fault `wrong_amount`, else from the body, else from the request. A final
 * request is refused, unless the fault `after_expiry` is armed: then the money arrives, but the
 * request keeps its status. With `found_at_settlement` nothing shows the money before its
 * settlement.
 */
export function simulatePayment(world: World, id: string, body?: unknown) {
  const record = requireRequest(world, id)
  const order = parseInput(SimulateBody, body)
  if (!isOpen(record.request) && !takeFault(world, 'payment', 'after_expiry'))
    requireOpen(world, id)
  const wrongAmount = numberOf(takeFault(world, 'payment', 'wrong_amount'))
  const amount = wrongAmount ?? order?.amount ?? record.request.request_amount
  const now = timestampNow(world)
  const captureId = `cptr-${world.newUuid()}`
  const payment: Payment = {
    ...paymentOf(world, record.request),
    captures: [{ capture_id: captureId, capture_amount: amount, capture_timestamp: now }],
    status: 'SUCCEEDED',
  }
  world.store.payments.put({ id: payment.payment_id, payment })
  const isFoundLate = takeFault(world, 'payment', 'found_at_settlement') !== undefined
  const settleAtMs = bookCapture(world, payment, { captureId, amount, isFoundLate })
  if (!isFoundLate) payRequest(world, record, payment.payment_id)
  announce(world, 'payment.capture', payment, isFoundLate ? settleAtMs : undefined)
  return {
    status: 'PENDING',
    message:
      'A simulated payment for the specified payment request id is being processed. You will be ' +
      'informed of the result via a webhook.',
  }
}

/**
 * `POST /v3/payment_requests/{id}/cancel`. As at the real provider, it sends no callback. Throws
 * `INACTIVE_PAYMENT_REQUEST` for a final request, and `INELIGIBLE_TRANSACTION_STATUS` for an open
 * push request.
 */
export function cancelRequest(world: World, id: string) {
  const record = requireOpen(world, id)
  if (record.request.status !== 'REQUIRES_ACTION') {
    const message = `Payment request is ${record.request.status} and cannot be cancelled`
    throw new ProviderError('INELIGIBLE_TRANSACTION_STATUS', message)
  }
  return closeRequest(world, record, { status: 'CANCELED' })
}

function requireOpen(world: World, id: string) {
  const record = requireRequest(world, id)
  if (isOpen(record.request)) return record
  throw new ProviderError(
    'INACTIVE_PAYMENT_REQUEST',
    `Payment request is already ${record.request.status}`,
  )
}

/** Throws `INACTIVE_PAYMENT_REQUEST` for a final request. */
export function expireRequest(world: World, id: string) {
  const request = closeRequest(world, requireOpen(world, id), { status: 'EXPIRED' })
  announce(world, 'payment_request.expiry', request)
  return request
}

/** A final request stays unchanged. */
export function expireWhenDue(world: World, id: string) {
  const record = world.store.requests.get(id)
  if (record && isOpen(record.request)) expireRequest(world, id)
}

const FailBody = v.nullish(
  v.object({ failure_code: v.optional(v.pipe(v.string(), v.regex(/^[A-Z0-9_]{1,64}$/))) }),
)

/** Records a FAILED payment and a FAILED request, and announces the failure. */
export function failRequest(world: World, id: string, body?: unknown) {
  const record = requireOpen(world, id)
  const failureCode = parseInput(FailBody, body)?.failure_code ?? 'USER_DECLINED_PAYMENT'
  const payment: Payment = {
    ...paymentOf(world, record.request),
    status: 'FAILED',
    failure_code: failureCode,
  }
  world.store.payments.put({ id: payment.payment_id, payment })
  const request = closeRequest(world, record, {
    status: 'FAILED',
    failure_code: failureCode,
    latest_payment_id: payment.payment_id,
  })
  announce(world, 'payment.failure', payment)
  return request
}
