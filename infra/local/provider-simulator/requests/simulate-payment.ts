import * as v from 'valibot'
import { announce } from '../callbacks.ts'
import { numberOf, takeFault } from '../faults.ts'
import { ProviderError, parseInput } from '../provider-error.ts'
import { isOpen, type Payment, type PaymentRequest } from '../provider-objects.ts'
import { bookCapture } from '../transactions/transaction-rows.ts'
import { requireRequest, timestampNow, type World } from '../world.ts'

const SimulateBody = v.nullish(
  v.object({
    amount: v.optional(v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(1_000_000_000_000))),
  }),
)

/**
 * `POST /v3/payment_requests/{id}/simulate`: the payer pays. Everything but the callback has happened when this returns.
 * The amount is the `wrong_amount` fault's, else the body's, else the one asked for, and is captured whatever it is.
 * A final request is refused unless `after_expiry` is armed: then the money arrives, and the request stays as it is.
 */
export const simulatePayment = (world: World, id: string, body: unknown) => {
  const record = requireRequest(world, id)
  const ordered = parseInput(SimulateBody, body)
  if (!isOpen(record.request) && !takeFault(world, 'payment', 'after_expiry')) {
    const message = `Payment request is ${record.request.status} and cannot be paid`
    throw new ProviderError('INACTIVE_PAYMENT_REQUEST', message)
  }
  const wrongAmount = numberOf(takeFault(world, 'payment', 'wrong_amount'))
  const amount = wrongAmount ?? ordered?.amount ?? record.request.request_amount
  const now = timestampNow(world)
  const captureId = `cptr-${world.newUuid()}`
  const payment: Payment = {
    ...paymentOf(world, record.request),
    captures: [{ capture_id: captureId, capture_amount: amount, capture_timestamp: now }],
    status: 'SUCCEEDED',
  }
  world.store.payments.put({ id: payment.payment_id, payment })
  const status = isOpen(record.request) ? 'SUCCEEDED' : record.request.status
  const request = { ...record.request, status, latest_payment_id: payment.payment_id, updated: now }
  world.store.requests.put({ ...record, request })
  bookCapture(world, payment, { captureId, amount })
  announce(world, 'payment.capture', payment)
  return {
    status: 'PENDING',
    message:
      'A simulated payment for the specified payment request id is being processed. ' +
      'You will be informed of the result via a webhook.',
  }
}

/** A payment made on a request, without its outcome. */
export const paymentOf = (world: World, request: PaymentRequest) => {
  const now = timestampNow(world)
  return {
    payment_id: `py-${world.newUuid()}`,
    business_id: request.business_id,
    reference_id: request.reference_id,
    payment_request_id: request.payment_request_id,
    type: request.type,
    country: request.country,
    currency: request.currency,
    request_amount: request.request_amount,
    capture_method: request.capture_method,
    channel_code: request.channel_code,
    payment_details: {},
    ...(request.metadata === undefined ? {} : { metadata: request.metadata }),
    created: now,
    updated: now,
  }
}
