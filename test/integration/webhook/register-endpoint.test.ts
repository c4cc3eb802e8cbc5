import { describe, expect, it } from 'vitest'
import { handler as registerEndpoint } from '../../../functions/admin/register-endpoint.ts'
import type { ClientId, EndpointId } from '../../../shared/ids.ts'
import { endpointKey } from '../../../shared/table/keys.ts'
import { moveToGone } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { liveEndpoints } from '../../../shared/webhook/endpoint/find-endpoints.ts'
import { auditRecordsOf, invokeAdmin, OPERATOR, withClient } from '../../support/operator-actions.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'

const FAILED = 'payment.failed'
const LOOPBACK = 'http://127.0.0.1:3003/hooks'
const URL_OF_MERCHANT = 'https://merchant.example/hooks'

const register = (deps: TestDeps, clientId: string, payload: object = {}) =>
  invokeAdmin(registerEndpoint, deps, {
    operator: OPERATOR,
    client_id: clientId,
    url: URL_OF_MERCHANT,
    event_types: ['*'],
    ...payload,
  })

const secretOf = async (deps: TestDeps, clientId: ClientId, endpointId: EndpointId) => {
  const item = await deps.table.get(endpointKey(clientId, endpointId))
  return deps.sealer.unseal(String(item?.['sealedSecret']), { clientId, endpointId })
}

describe('register-endpoint (spec 2.4)', () => {
  it('answers the endpoint with its secret, which its row keeps sealed', async () => {
    const { deps, clientId } = await withClient()
    const event_types = ['payment.succeeded', FAILED]

    const { status, body } = await register(deps, clientId, { event_types })

    const { signing_secret: signingSecret, ...after } = body as Record<string, unknown>
    const [stored] = await liveEndpoints(deps, clientId)
    const { endpointId = '' as EndpointId, ...endpoint } = stored ?? {}
    const [url, createdAt] = [URL_OF_MERCHANT, deps.now()]
    expect(status).toBe(200)
    const shown = { client_id: clientId, url, event_types, enabled: true, created_at: createdAt }
    expect(after).toStrictEqual({ endpoint_id: endpointId, ...shown })
    expect(endpoint).toStrictEqual({ clientId, url, eventTypes: event_types, enabled: true, createdAt })
    expect(await secretOf(deps, clientId, endpointId)).toBe(signingSecret)
    expect(await auditRecordsOf(deps, endpointId)).toStrictEqual([
      { operator: OPERATOR, action: 'register-endpoint', before: undefined, after },
    ])
    expect(JSON.stringify(deps.lines)).not.toContain(signingSecret)
  })

  it('makes secrets that libraries decode: whsec_ and standard base64 of 32 bytes', async () => {
    const { deps, clientId } = await withClient()
    // Every one of base64's letters, and in base64url others for the last two of them.
    const bytes = Buffer.from(Array.from({ length: 32 }, (_, at) => [0xfb, 0xff, 0xbf][at % 3] ?? 0))

    const { body } = await register({ ...deps, randomBytes: () => bytes }, clientId)

    const signingSecret: string = Reflect.get(body, 'signing_secret')
    expect(signingSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    expect(signingSecret).toMatch(/\+.*\//)
    expect(atob(signingSecret.slice('whsec_'.length))).toBe(bytes.toString('latin1'))
  })

  const known = 'must be ("payment.succeeded" | "payment.failed" | "payment.expired" | "payment.reversed" | "*")'
  const some = 'must be ["*"] alone or with payment.reversed, or a list of names'
  it.each([
    ['an http URL', { url: 'http://merchant.example/' }, 'url', 'must be an https URL'],
    ['a long URL', { url: `https://m.example/${'x'.repeat(2_048)}` }, 'url', 'at most 2048 characters'],
    ['a loopback URL', { url: LOOPBACK }, 'url', 'must be an https URL'],
    ['a name that leads to a private address', {}, 'url', 'resolves to a private or special address'],
    ['no event types', { event_types: [] }, 'event_types', 'must name at least one event type'],
    ['an event type twice', { event_types: [FAILED, FAILED] }, 'event_types', 'must not name an event type twice'],
    ['all and some', { event_types: ['*', FAILED] }, 'event_types', some],
    ['an unknown event type', { event_types: ['payment.cancelled'] }, 'event_types.0', known],
  ])('refuses %s with a reason and a hint', async (_case, payload, field, reason) => {
    const { deps, clientId } = await withClient({ resolveHost: async () => [{ address: '10.1.2.3', family: 4 }] })

    const { status, body } = await register(deps, clientId, payload)

    const refusal = { message: `${field}: ${reason}`, code: 'validation', field_errors: { [field]: [reason] } }
    expect({ status, body }).toStrictEqual({ status: 422, body: { ...refusal, action_hint: expect.any(String) } })
    expect(await liveEndpoints(deps, clientId)).toStrictEqual([])
  })

  it('accepts loopback in stage local', async () => {
    const { deps, clientId } = await withClient({ stage: { allowLoopbackWebhooks: true } })

    const answer = await register(deps, clientId, { url: LOOPBACK })

    expect(answer).toMatchObject({ status: 200, body: { url: LOOPBACK } })
  })

  it('stops at twenty endpoints, disabled ones counted, and counts no deleted ones', async () => {
    const { deps, clientId } = await withClient()
    for (let made = 0; made < 19; made++) await storedEndpoint(deps, { clientId, enabled: made > 0 })
    await deps.table.transact(moveToGone(await storedEndpoint(deps, { clientId }), deps.now()))
    expect(await register(deps, clientId)).toMatchObject({ status: 200 })

    expect(await register(deps, clientId)).toMatchObject({
      status: 422,
      body: { message: 'a client has at most 20 endpoints', action_hint: 'Delete one that is not used.' },
    })
  })
})
