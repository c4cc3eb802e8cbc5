import * as v from 'valibot'
import { type ClientId, ClientIdSchema } from '../../../shared/ids.ts'
import { operate } from './lambda.ts'
import type { World } from './world.ts'

export type SimEndpoint = {
  readonly endpointId: string
  readonly url: string
  readonly secret: string
  isGone?: boolean
}

export type Tenant = {
  readonly clientId: ClientId
  apiKey: string
  keyId: string
  /** Keys that the tenant no longer uses, and read-only ones. */
  readonly formerKeys: string[]
  isBeingChanged?: boolean
  readonly endpoints: SimEndpoint[]
  readonly rateLimit: number | undefined
  /** What must never appear in a log line or in another tenant's answers. */
  readonly personal: { readonly name: string; readonly email: string; readonly phone: string }
}

export function liveEndpoints({ endpoints }: Tenant) {
  return endpoints.filter(({ isGone }) => isGone !== true)
}

const PAYMENT_EVENTS = ['reversed', 'disputed', 'held'].map((name) => `payment.${name}`)
const SETTLEMENT_EVENTS = ['recorded', 'paid', 'failed'].map((name) => `settlement.${name}`)
/** Only endpoints that name them get these events. */
export const NAMED_EVENTS: readonly string[] = [...PAYMENT_EVENTS, ...SETTLEMENT_EVENTS]

/** Undefined if the operator got no answer. */
export async function addEndpoint(
  world: World,
  clientId: string,
  named = NAMED_EVENTS,
): Promise<SimEndpoint | undefined> {
  const number = world.registrations.get(clientId) ?? 0
  world.registrations.set(clientId, number + 1)
  const url = `https://endpoint-${number}.${clientId.slice(0, 8)}.example/hooks`
  const asked = { client_id: clientId, url, event_types: ['*', ...named] }
  const registered = await operate(world, 'register-endpoint', asked)
  if (registered?.status !== 200) return undefined
  const endpointId = String(registered.body['endpoint_id'])
  return { endpointId, url, secret: String(registered.body['signing_secret']) }
}

/** `named`: the events that its endpoints name besides `*`. */
export async function addTenant(
  world: World,
  number: number,
  endpoints: number,
  named = NAMED_EVENTS,
) {
  // The second tenant's own retries sometimes reach its limit. The third tenant is for floods.
  const rateLimit = [undefined, 3, 4][number]
  const client = okBody(
    await operate(world, 'create-client', {
      name: `Toko Nomor ${'ABCDEFGH'[number] ?? 'X'}`,
      // A rate limit makes counters, which expire.
      ...(rateLimit !== undefined && { rate_limit_per_second: rateLimit }),
      settlement_floor_minor: world.prng.pick([0, 10_000, 250_000]),
      bank: {
        bank_name: 'BCA',
        bank_account_no: `00${String(number).padStart(4, '0')}7788`,
        bank_account_name: 'PT Simulasi',
      },
    }),
  )
  const clientId = v.parse(ClientIdSchema, client['client_id'])
  const key = okBody(await operate(world, 'issue-api-key', { client_id: clientId }))
  const made: SimEndpoint[] = []
  for (let index = 0; index < endpoints; index++) {
    const endpoint = await addEndpoint(world, clientId, named)
    if (!endpoint) throw new Error('an endpoint was not registered')
    made.push(endpoint)
  }
  return {
    clientId,
    apiKey: String(key['api_key']),
    keyId: String(key['key_id']),
    formerKeys: [],
    endpoints: made,
    rateLimit,
    personal: {
      name: `Pelanggan-${number}-Rahasia`,
      email: `pelanggan${number}@rahasia.example`,
      phone: `+62812000${number}${number}${number}${number}`,
    },
  }
}

function okBody(reply: Awaited<ReturnType<typeof operate>>) {
  if (reply?.status !== 200) throw new Error(`an operator action failed: ${JSON.stringify(reply)}`)
  return reply.body
}
