import { PHONE_FORM } from '../../channel/channel-facts.ts'
import { channelOf, isListedChannel } from '../../channel/channels.ts'
import type { Deps } from '../../deps.ts'
import type { CreateAnswer } from '../../provider/provider.ts'
import { notePause } from '../../provider/quota-store.ts'
import { recordFinding } from '../../suspense/record-suspense.ts'
import type { CreatingPayment, PaymentRequest } from '../payment.ts'

type Explanation = { readonly field: string; readonly message: string }

type Refusal = Omit<Extract<CreateAnswer, { readonly kind: 'refused' }>, 'kind' | 'code'>

/**
 * The provider decides, our table of channels explains. Undefined: the refusal counts as our
 * failure.
 */
export function explainRefusal(
  request: PaymentRequest,
  { isAccountWide, isNotActivated }: Refusal,
): Explanation | undefined {
  const { method, channelCode = method, notionalMinor, customer } = request
  const { facts, needs } = channelOf(request)
  if (isNotActivated && !isListedChannel(request)) {
    const message = `channel_code ${channelCode} is not activated at the provider`
    return { field: 'channel_code', message }
  }
  if (isAccountWide || isNotActivated) return undefined
  const { least = 0, most = Infinity } = facts?.amounts ?? {}
  if (notionalMinor < least || notionalMinor > most) {
    const message = `amount must be ${least} to ${most} for channel ${channelCode}`
    return { field: 'amount', message }
  }
  if (needs.phone && !PHONE_FORM.test(customer?.phone ?? '')) {
    const form = 'an Indonesian mobile number (+628...)'
    const message = `customer.phone must be ${form} for channel ${channelCode}`
    return { field: 'customer.phone', message }
  }
  return undefined
}

/** The first 429 pauses creates everywhere; a channel that is not activated is told once a day. */
export async function reportRefusal(
  deps: Pick<Deps, 'table' | 'provider' | 'now' | 'log' | 'alerts' | 'memory'>,
  { request }: CreatingPayment,
  answer: CreateAnswer,
): Promise<void> {
  if (answer.kind === 'not_executed') await notePause(deps, ['createRequest'])
  if (answer.kind !== 'refused' || !answer.isNotActivated || !isListedChannel(request)) return
  const subject = `${request.channelCode ?? request.method}#${deps.now().slice(0, 10)}`
  await recordFinding(deps, { subject, cause: 'channel_not_activated', payment: undefined })
}
