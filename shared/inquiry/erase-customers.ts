import { requireClient } from '../client/client-store.ts'
import type { Deps, TableDeps } from '../deps.ts'
import { GatewayError, invalid } from '../errors.ts'
import { listPaymentEvents } from '../event/read-events.ts'
import type { ClientId, PaymentId } from '../ids.ts'
import { type RecordDeps, recordChange } from '../operator/audit-record-store.ts'
import { paymentsByReference } from '../payment/list-payments.ts'
import type { CreatingPayment, Payment, StoredPayment } from '../payment/payment.ts'
import { findAnyPayment } from '../payment/payment-store.ts'
import { deliveriesOfEvent } from '../webhook/delivery/list-deliveries.ts'
import { eraseFromEvent, eraseFromPayment, eraseFromRequest } from './erase-store.ts'

type EraseDeps = RecordDeps & Pick<Deps, 'log'>

/** The erased fields and events of one payment; none if its customer was erased before. */
type Erased = { readonly payment_id: PaymentId; readonly fields: readonly string[]; readonly events: number }

const recordOf = ({ paymentId: subject, clientId }: StoredPayment, operator: string) =>
  ({ subject, clientId, operator, action: 'erase-customer' }) as const

const namesIn = (customer: object | undefined): readonly string[] => Object.keys(customer ?? {})

const underWay = (what: string) => invalid(`${what}: its customer cannot be erased yet`)

/** Undefined if the payment has changed after the read. */
const eraseFromVisible = async (deps: EraseDeps, payment: Payment, operator: string): Promise<Erased | undefined> => {
  const { paymentId, clientId, customer, erasedAt } = payment
  if (payment.status === 'pending') throw underWay('the payment is pending')
  const stored = await listPaymentEvents(deps, paymentId)
  for (const { eventId } of stored) {
    const deliveries = await deliveriesOfEvent(deps, clientId, eventId)
    if (deliveries.some(({ delivery }) => delivery.status === 'scheduled'))
      throw underWay('a delivery of the payment is under way')
  }
  let events = 0
  for (const event of stored) if (await eraseFromEvent(deps, event)) events++
  if (customer === undefined || erasedAt !== undefined) return { payment_id: paymentId, fields: [], events }
  const steps = { payment: eraseFromPayment(payment, deps.now()) }
  if (!(await recordChange(deps, recordOf(payment, operator), steps)).applied) return undefined
  return { payment_id: paymentId, fields: namesIn(customer), events }
}

const eraseFromCreating = async (deps: EraseDeps, creating: CreatingPayment, operator: string) => {
  const { paymentId, leaseUntil, request } = creating
  const now = deps.now()
  if (leaseUntil !== undefined && leaseUntil > now) throw underWay('the payment is being created')
  const fields = namesIn(request.customer)
  if (fields.length === 0) return { payment_id: paymentId, fields, events: 0 }
  const outcome = await recordChange(deps, recordOf(creating, operator), { payment: eraseFromRequest(creating, now) })
  return outcome.applied ? { payment_id: paymentId, fields, events: 0 } : undefined
}

/**
 * Erases name, e-mail and phone from a payment, its stored request and its events (design section 11). Events come
 * first, so after a crash the payment still names its customer, and a repeat finishes. Throws 422 while the payment is
 * pending or being created, or a delivery of it is under way; 409 if it changes meanwhile.
 */
const eraseCustomer = async (deps: EraseDeps, payment: StoredPayment, operator: string): Promise<Erased> => {
  const erased =
    payment.status === 'creating'
      ? await eraseFromCreating(deps, payment, operator)
      : await eraseFromVisible(deps, payment, operator)
  if (erased === undefined) throw new GatewayError('conflict', 'the payment changed during the erasure; try again')
  deps.log.info('customer.erased', { payment_id: payment.paymentId, client_id: payment.clientId })
  return erased
}

const MAX_PAYMENTS = 100

type Selection = { readonly clientId: ClientId; readonly reference: string } | { readonly paymentId: string }

const selected = async (deps: TableDeps, selection: Selection) => {
  if ('paymentId' in selection) return { payments: [await findAnyPayment(deps, selection.paymentId)], complete: true }
  const { clientId, reference } = selection
  await requireClient(deps, clientId)
  const { payments, complete } = await paymentsByReference(deps, clientId, reference)
  const open = payments.filter(({ customer }) => customer !== undefined)
  return { payments: open.slice(0, MAX_PAYMENTS), complete: complete && open.length <= MAX_PAYMENTS }
}

/** Erases the customer from one payment, or from all payments of a client with a reference, newest first. */
export const eraseCustomers = async (deps: EraseDeps, selection: Selection, operator: string) => {
  const { payments, complete } = await selected(deps, selection)
  const erased: Erased[] = []
  for (const payment of payments) erased.push(await eraseCustomer(deps, payment, operator))
  return { erased, complete }
}
