import { text } from '../../support/books.ts'
import type { Observations } from '../watching/observations.ts'
import { cancelledRequest } from '../world/provider-network.ts'
import type { ProviderAnswer, World } from '../world/world.ts'

/** What the provider calls a request that waits to be paid. */
export const OPEN: readonly string[] = ['REQUIRES_ACTION', 'PENDING']
const CLOSED = ['failed', 'expired', 'cancelled']

/** Whether somebody can pay it at this moment, by the provider's own books. */
export const isPayable = ({ provider, scheduler }: World, requestId: string): boolean => {
  const record = provider.requestAsItStands(requestId)
  return record !== undefined && OPEN.includes(record.request.status) && record.expiresAtMs > scheduler.nowMs()
}

/** The provider has said no to a cancel: not that it is busy, broken, or does not know who asks. */
const refusedBy = ({ method, path, outcome }: ProviderAnswer): string | undefined => {
  const id = cancelledRequest(method, path)
  const isNo = outcome.kind === 'answered' && [400, 404, 409].includes(outcome.status)
  return isNo ? id : undefined
}

/**
 * Checked at the moment a payment ends without money: nobody can pay its destination any more, unless the provider has
 * refused to close it.
 */
export const watchClosing = (world: World, seen: Observations): void => {
  const refused = new Set<string>()

  world.onAnswered.push((_, answer) => {
    const id = refusedBy(answer)
    if (id !== undefined) refused.add(id)
  })

  world.onChange.push(({ key, before, after }) => {
    if (key.sk !== 'PAYMENT' || after === undefined || before?.['status'] === after['status']) return
    const requestId = text(after, 'payment_request_id')
    if (!CLOSED.includes(text(after, 'status')) || refused.has(requestId) || !isPayable(world, requestId)) return
    seen.problems.push(`${key.pk} is ${text(after, 'status')}, and its destination can still be paid`)
  })
}
