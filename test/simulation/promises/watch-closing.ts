import { isOpen } from '../../../infra/local/provider-simulator/provider-objects.ts'
import { type RawItem, text } from '../../support/recount/books.ts'
import { cancelledRequest } from '../world/provider-network.ts'
import { onCancel } from '../world/rows.ts'
import { isChanged, type Rules, watchRules } from '../world/rules.ts'
import type { World } from '../world/world.ts'

const CLOSED = ['failed', 'expired', 'cancelled']

/** Whether the provider accepts money for a request at this moment. */
export const isPayable = ({ provider, scheduler }: World, requestId: string): boolean => {
  const record = provider.storedRequest(requestId)
  return record !== undefined && isOpen(record.request) && record.expiresAtMs > scheduler.nowMs()
}

/** Whether a request was paid in time, with the amount asked for. */
const isPaid = ({ provider }: World, requestId: string): boolean => {
  const request = provider.storedRequest(requestId)?.request
  const captured = provider.capturedPayments().find(({ id }) => id === request?.latest_payment_id)
  return request?.status === 'SUCCEEDED' && captured?.amount === request.request_amount
}

/** Checked when a payment ends without money: it can no longer be paid, and it notes for which actor it was closed. */
export const watchClosing = (world: World): void => {
  const refused = new Set<string>()

  // An answer that the provider is busy or broken refuses no cancel.
  world.onAnswered.push((_, { method, path, outcome }) => {
    const id = cancelledRequest(method, path)
    if (id !== undefined && outcome.kind === 'answered' && [400, 404, 409].includes(outcome.status)) refused.add(id)
  })

  onCancel(world, (id, payment) => {
    if (payment?.['status'] !== 'pending' || payment['payment_request_id'] !== id) return
    if (payment['cancel_requested_at'] === undefined && payment['expiry_started_at'] === undefined)
      world.problems.push(`${id} is cancelled, and its payment does not note for which actor`)
  })

  const ends: Rules = {
    'has ended, and its destination has been paid': ({ after }) =>
      isClosed(after) && after['status'] !== 'failed' && isPaid(world, text(after, 'payment_request_id')),
    'has ended, and its destination can still be paid': ({ after }) =>
      isClosed(after) && isPayable(world, text(after, 'payment_request_id')),
  }
  const isClosed = (payment: RawItem) =>
    CLOSED.includes(text(payment, 'status')) && !refused.has(text(payment, 'payment_request_id'))
  watchRules(world, ({ sk }, write) => (sk === 'PAYMENT' && isChanged(write, 'status') ? ends : undefined))
}
