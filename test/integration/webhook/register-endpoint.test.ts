import { describe, expect, it } from 'vitest'
import { handler as registerEndpoint } from '../../../functions/admin/register-endpoint.ts'
import type { EndpointId } from '../../../shared/ids.ts'
import { endpointKey } from '../../../shared/table/keys.ts'
import { moveToGone } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { liveEndpoints } from '../../../shared/webhook/endpoint/find-endpoints.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import { auditRecordsOf, invokeAdmin, OPERATOR, withClient } from '../../support/operator-actions.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'

const FAILED = 'payment.failed'
const URL_OF_MERCHANT = 'https://merchant.example/hooks'

const register = (deps: TestDeps, clientId: string, payload: object = {}) =>
  invokeAdmin(registerEndpoint, deps, {
    operator: OPERATOR,
    client_id: clientId,
    url: URL_OF_MERCHANT,
    event_types: ['*'],
    ...payload,
  })

describe('register-endpoint (spec 2.4)', () => {
  it('answers the endpoint with its secret, which its row keeps sealed', async () => {
    const { deps, clientId } = await withClient()

    const { status, body } = await register(deps, clientId, { event_types: ['payment.succeeded', 'payment.failed'] })

    const { endpoint_id: endpointId, signing_secret: signingSecret, ...rest } = body as Record<string, string>
    expect(status).toBe(200)
    expect(rest).toStrictEqual({
      client_id: clientId,
      url: URL_OF_MERCHANT,
      event_types: ['payment.succeeded', 'payment.failed'],
      enabled: true,
      created_at: deps.now(),
    })
    const { sealedSecret } = (await deps.table.get(endpointKey(clientId, endpointId as EndpointId))) ?? {}
    expect(await deps.sealer.unseal(String(sealedSecret), { clientId, endpointId: endpointId ?? '' })).toBe(
      signingSecret,
    )
    const [stored] = await liveEndpoints(deps, clientId)
    expect(stored).toStrictEqual({
      endpointId,
      clientId,
      url: URL_OF_MERCHANT,
      eventTypes: ['payment.succeeded', 'payment.failed'],
      enabled: true,
      createdAt: deps.now(),
    })
    const after = { endpoint_id: endpointId, ...rest }
    expect(await auditRecordsOf(deps, endpointId ?? '')).toStrictEqual([
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

  it('leaves nothing when it dies before its transaction, or cannot seal', async () => {
    const { deps, clientId } = await withClient()
    const dying = interceptTable(deps, {
      before: ({ name }) => {
        if (name === 'transact') throw new Error('the process died')
      },
    })
    const denied = async () => Promise.reject(new Error('denied'))
    const withoutKey = { ...deps, sealer: { ...deps.sealer, seal: denied } }

    expect(await register(dying, clientId)).toMatchObject({ status: 500 })
    expect(await register(withoutKey, clientId)).toMatchObject({ status: 500 })

    expect(await liveEndpoints(deps, clientId)).toStrictEqual([])
  })

  it('leaves a whole endpoint when it dies after its transaction, which can be deleted', async () => {
    const { deps, clientId } = await withClient()
    const dying = interceptTable(deps, {
      after: ({ name }) => {
        if (name === 'transact') throw new Error('the process died')
      },
    })

    expect(await register(dying, clientId)).toMatchObject({ status: 500 })

    const [endpoint] = await liveEndpoints(deps, clientId)
    const { sealedSecret } = (await deps.table.get(endpointKey(clientId, endpoint?.endpointId as EndpointId))) ?? {}
    const owner = { clientId, endpointId: endpoint?.endpointId ?? '' }
    expect(await deps.sealer.unseal(String(sealedSecret), owner)).toMatch(/^whsec_/)
  })

  it.each([
    ['an http URL', { url: 'http://merchant.example/' }, 'url', 'must be an https URL'],
    [
      'a URL past 2,048 characters',
      { url: `https://m.example/${'x'.repeat(2_048)}` },
      'url',
      'at most 2048 characters',
    ],
    ['no event types', { event_types: [] }, 'event_types', 'must name at least one event type'],
    ['an event type twice', { event_types: [FAILED, FAILED] }, 'event_types', 'must not name an event type twice'],
    [
      'all and some',
      { event_types: ['*', FAILED] },
      'event_types',
      'must be ["*"] alone or with payment.reversed, or a list of names',
    ],
  ])('refuses %s with a reason and a hint', async (_case, payload, field, reason) => {
    const { deps, clientId } = await withClient()

    const { status, body } = await register(deps, clientId, payload)

    expect({ status, body }).toMatchObject({
      status: 422,
      body: { message: `${field}: ${reason}`, code: 'validation', field_errors: { [field]: [reason] } },
    })
    expect(Reflect.get(body, 'action_hint')).toEqual(expect.any(String))
    expect(await liveEndpoints(deps, clientId)).toStrictEqual([])
  })

  it('refuses an event type that it does not know', async () => {
    const { deps, clientId } = await withClient()

    const answer = await register(deps, clientId, { event_types: ['payment.cancelled'] })

    expect(answer).toMatchObject({ status: 422, body: { field_errors: { 'event_types.0': [expect.any(String)] } } })
  })

  it('refuses a name that leads to a private address', async () => {
    const { deps, clientId } = await withClient({ resolveHost: async () => [{ address: '10.1.2.3', family: 4 }] })

    expect(await register(deps, clientId)).toMatchObject({
      status: 422,
      body: { field_errors: { url: ['resolves to a private or special address'] } },
    })
  })

  it('accepts loopback in stage local only', async () => {
    const url = 'http://127.0.0.1:3003/hooks'
    const { deps, clientId } = await withClient()
    const local = { ...deps, stage: { ...deps.stage, allowLoopbackWebhooks: true } }

    expect(await register(deps, clientId, { url })).toMatchObject({ status: 422 })
    expect(await register(local, clientId, { url })).toMatchObject({ status: 200, body: { url } })
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
