import * as v from 'valibot'
import { type Channel, channelOf } from '../channels.ts'
import { ProviderError, parseInput } from '../provider-error.ts'
import { BUSINESS_ID, type PaymentRequest } from '../provider-objects.ts'
import { timestampNow, type World } from '../world.ts'
import { CHANNEL_PROPERTIES, CreateRequestBody } from './create-request-body.ts'
import { destinationActions } from './destination-actions.ts'

/**
 * `POST /v3/payment_requests`. Like the provider, it neither minds a `reference_id` it has seen before nor reads an
 * idempotency key: every call makes another payable request.
 */
export const createPaymentRequest = (world: World, input: unknown): PaymentRequest => {
  const body = parseInput(CreateRequestBody, input)
  const channel = requireChannel(body.channel_code)
  const channelProperties = parseChannelProperties(channel, body.channel_properties)
  requireAmount(channel, body.request_amount)
  const expiresAtMs = expiryOf(world, channel, channelProperties)
  const requestId = `pr-${world.newUuid()}`
  const created = timestampNow(world)
  const request: PaymentRequest = {
    payment_request_id: requestId,
    business_id: BUSINESS_ID,
    reference_id: body.reference_id,
    type: body.type,
    country: body.country,
    currency: body.currency,
    request_amount: body.request_amount,
    capture_method: 'AUTOMATIC',
    channel_code: body.channel_code,
    channel_properties: channelProperties,
    actions: destinationActions(world, channel, { requestId, amount: body.request_amount, channelProperties }),
    status: channel.destination === 'push' ? 'PENDING' : 'REQUIRES_ACTION',
    ...(body.description === undefined ? {} : { description: body.description }),
    ...(body.metadata === undefined ? {} : { metadata: body.metadata }),
    created,
    updated: created,
  }
  world.store.requests.put({ id: requestId, expiresAtMs, request })
  world.agenda.add({ kind: 'expire', id: requestId, dueMs: expiresAtMs })
  return request
}

const requireChannel = (code: string): Channel => {
  const channel = channelOf(code)
  if (!channel) {
    const message = `API endpoint and method is not supported for '${code}' channel code with country 'ID'`
    throw new ProviderError('API_VALIDATION_ERROR', message)
  }
  return channel
}

/** The provider prints the limits, and not which of its two codes for a wrong value it answers beyond them. */
const requireAmount = ({ amounts }: Channel, amount: number): void => {
  if (amounts === undefined) return
  const [least, most] = amounts
  if (amount >= least && amount <= most) return
  throw new ProviderError('INVALID_VALUE_ERROR', `request_amount must be between ${least} and ${most}`)
}

const parseChannelProperties = (channel: Channel, properties: Record<string, unknown>): Record<string, string> => {
  const schema = v.object({ channel_properties: CHANNEL_PROPERTIES[channel.destination] })
  return parseInput(schema, { channel_properties: properties }).channel_properties
}

const expiryOf = (world: World, channel: Channel, properties: Readonly<Record<string, string>>) => {
  const wanted = properties['expires_at']
  if (wanted === undefined) return world.nowMs() + channel.lifetimeSeconds * 1000
  const wantedMs = Date.parse(wanted)
  if (wantedMs > world.nowMs()) return wantedMs
  throw new ProviderError('API_VALIDATION_ERROR', 'channel_properties.expires_at must be in the future')
}
