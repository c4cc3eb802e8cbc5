import { type RawItem, text } from '../../support/recount/books.ts'
import type { Observations } from '../watching/observations.ts'
import type { ProviderAnswer } from '../world/listeners.ts'
import { cancelledRequest } from '../world/provider-network.ts'
import type { World } from '../world/world.ts'

/** What the provider calls a request that waits to be paid. */
export const OPEN: readonly string[] = ['REQUIRES_ACTION', 'PENDING']
const CLOSED = ['failed', 'expired', 'cancelled']

/** Whether it can be paid at this moment, by the provider's own books. */
export const isPayable = ({ provider, scheduler }: World, requestId: string): boolean => {
  const record = provider.requestAsItStands(requestId)
  return record !== undefined && OPEN.includes(record.request.status) && record.expiresAtMs > scheduler.nowMs()
}

/** Whether it was paid, with the amount asked for, while it could be. */
const isPaid = ({ provider }: World, requestId: string): boolean => {
  const request = provider.requestAsItStands(requestId)?.request
  const captured = provider.capturedPayments().find(({ id }) => id === request?.latest_payment_id)
  return request?.status === 'SUCCEEDED' && captured?.amount === request.request_amount
}

/** By how much the clocks of two machines differ. */
const SKEW_MS = 20_000

/** What the provider says of a request; nothing where its reads may come late. */
const requestOf = ({ provider, faults }: World, payment: RawItem) =>
  faults.providerStale > 0 || faults.providerBehind > 0
    ? undefined
    : provider.requestAsItStands(text(payment, 'payment_request_id'))?.request

/** It was paid after its end: money that is not what was asked for fails it all the same. */
const hasMoney = (world: World, payment: RawItem): boolean =>
  world.provider.capturedPayments().some(({ id }) => id === requestOf(world, payment)?.latest_payment_id)

/** Ends that the provider's own books, and what was written down before, do not bear out. */
const WRONG_ENDS: readonly (readonly [what: string, isBroken: (world: World, payment: RawItem) => boolean])[] = [
  [
    'is failed, and was cancelled on our own behalf',
    (world, payment) =>
      payment['status'] === 'failed' &&
      (payment['cancel_requested_at'] ?? payment['expiry_started_at']) !== undefined &&
      requestOf(world, payment)?.status === 'CANCELED' &&
      !hasMoney(world, payment),
  ],
  [
    'is expired, and was cancelled for its merchant before',
    (world, payment) => {
      const request = requestOf(world, payment)
      return (
        payment['status'] === 'expired' &&
        payment['cancel_requested_at'] !== undefined &&
        request?.status === 'CANCELED' &&
        text(payment, 'expiry_started_at') > new Date(Date.parse(request.updated) + SKEW_MS).toISOString()
      )
    },
  ],
]

/** The provider has said no to a cancel: not that it is busy, broken, or does not know who asks. */
const refusedBy = ({ method, path, outcome }: ProviderAnswer): string | undefined => {
  const id = cancelledRequest(method, path)
  const isNo = outcome.kind === 'answered' && [400, 404, 409].includes(outcome.status)
  return isNo ? id : undefined
}

/**
 * Checked at the moment a payment ends without money: nobody has paid its destination, and nobody can any more, unless
 * the provider has refused to close it. And the worker that closes one has written down before on whose behalf.
 */
export const watchClosing = (world: World, seen: Observations): void => {
  const refused = new Set<string>()

  world.onAnswered.push((_, answer) => {
    const id = refusedBy(answer)
    if (id !== undefined) refused.add(id)
  })

  world.onAsked.push((_, method, path) => {
    const id = cancelledRequest(method, path)
    const reference = id === undefined ? undefined : world.provider.requestAsItStands(id)?.request.reference_id
    const payment = world.table.item({ pk: `PAYMENT#${reference?.slice(0, 36)}`, sk: 'PAYMENT' })
    if (payment?.['status'] !== 'pending' || payment['payment_request_id'] !== id) return
    if (payment['cancel_requested_at'] === undefined && payment['expiry_started_at'] === undefined)
      seen.problems.push(`${id} is cancelled, and its payment does not say on whose behalf`)
  })

  world.onChange.push(({ key, before, after }) => {
    if (key.sk !== 'PAYMENT' || after === undefined || before?.['status'] === after['status']) return
    const requestId = text(after, 'payment_request_id')
    for (const [what, isBroken] of WRONG_ENDS) {
      if (isBroken(world, after)) seen.problems.push(`${key.pk} ${what}`)
    }
    if (!CLOSED.includes(text(after, 'status')) || refused.has(requestId)) return
    if (after['status'] !== 'failed' && isPaid(world, requestId))
      seen.problems.push(`${key.pk} is ${text(after, 'status')}, and its destination has been paid`)
    if (!isPayable(world, requestId)) return
    seen.problems.push(`${key.pk} is ${text(after, 'status')}, and its destination can still be paid`)
  })
}
