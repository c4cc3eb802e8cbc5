import { PAYER_NAME } from '../../channel/channel-facts.ts'
import { channelOf } from '../../channel/channels.ts'
import type { Caller } from '../../client/client.ts'
import { assertInvariant } from '../../errors.ts'
import { referenceOf } from '../../ids.ts'
import type { CreateRequestInput } from '../../provider/provider.ts'
import type { StageSettings } from '../../stage-settings.ts'
import type { Timestamp } from '../../time.ts'
import type { CreatingPayment } from '../payment.ts'

/** The create call gets only the fields that the channel requires. */
export function createInput(
  stage: Pick<StageSettings, 'defaultReturnUrl' | 'defaultDisplayName'>,
  client: Pick<Caller, 'name' | 'returnUrl'>,
  { request, paymentId, attempt }: Pick<CreatingPayment, 'request' | 'paymentId' | 'attempt'>,
  expiresAt: Timestamp | undefined,
): CreateRequestInput {
  const { needs } = channelOf(request)
  const phone = needs.phone && request.customer?.phone
  assertInvariant(
    !needs.phone || phone !== undefined,
    'a channel that needs a phone is asked for without one',
  )
  const returnUrl = client.returnUrl ?? stage.defaultReturnUrl
  const letters = client.name.normalize('NFKD').replace(/[^A-Za-z ]/g, '')
  const displayName = letters.replace(/ +/g, ' ').trim().slice(0, 50).trim()
  return {
    reference: referenceOf(paymentId, attempt),
    method: request.method,
    channelCode: request.channelCode,
    amountMinor: request.notionalMinor,
    description: request.description,
    expiresAt,
    displayName:
      needs.displayName && (PAYER_NAME.test(displayName) ? displayName : stage.defaultDisplayName),
    phone,
    returnUrls: Object.fromEntries((needs.returnUrls ?? []).map((outcome) => [outcome, returnUrl])),
  }
}
