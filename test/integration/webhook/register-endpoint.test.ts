import { createHmac } from 'node:crypto'
import { describe, expect } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import type { EndpointId } from '../../../shared/ids.ts'
import { readAuditRecords } from '../../../shared/operator/audit-record-store.ts'
import { endpointKey } from '../../../shared/table/keys.ts'
import { addMs } from '../../../shared/time.ts'
import { readsOfPage } from '../../../shared/webhook/delivery/announce.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { liveEndpoints } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import {
  auditRecordsOf,
  invokeAdmin,
  OPERATOR,
  withClient,
} from '../../support/operator-actions.ts'
import { aPendingPayment } from '../../support/payment-builders.ts'
import { notifyOf } from '../../support/synced-payment.ts'
import { beforeCommit, type TestDeps, withoutTopic } from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'
import { drainQueue } from '../../support/webhook-builders.ts'
import { FAILED, remove, update } from './endpoint-operations.ts'
import { webhookTest } from './webhook-test.ts'

const it = testWith(() => withClient(), 'deps', 'client', 'clientId')

const LOOPBACK = 'http://127.0.0.1:3003/hooks'
const URL_OF_MERCHANT = 'https://merchant.example/hooks'

function register(deps: TestDeps, clientId: string, payload: object = {}) {
  const request = {
    operator: OPERATOR,
    client_id: clientId,
    url: URL_OF_MERCHANT,
    event_types: ['*'],
    ...payload,
  }
  return invokeAdmin('register-endpoint', deps, request)
}

describe('register-endpoint (spec 2.4)', () => {
  it('answers the endpoint with its secret, and stores the secret sealed', async ({
    deps,
    clientId,
  }) => {
    const event_types = ['payment.succeeded', FAILED]

    const { status, body } = await register(deps, clientId, { event_types })

    const { signing_secret: signingSecret, ...after } = body as Record<string, unknown>
    const [firstEndpoint] = await liveEndpoints(deps, clientId)
    const { endpointId = '' as EndpointId, ...endpoint } = firstEndpoint ?? {}
    const [url, createdAt] = [URL_OF_MERCHANT, deps.now()]
    expect(status).toBe(200)
    expect(after).toStrictEqual({
      endpoint_id: endpointId,
      client_id: clientId,
      url,
      event_types,
      enabled: true,
      created_at: createdAt,
    })
    expect(endpoint).toStrictEqual({
      clientId,
      url,
      eventTypes: event_types,
      enabled: true,
      createdAt,
    })
    expect(signingSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    const { sealedSecret } = (await deps.table.get(endpointKey({ clientId, endpointId }))) ?? {}
    expect(await deps.sealer.unseal(String(sealedSecret), { clientId, endpointId })).toBe(
      signingSecret,
    )
    expect(await auditRecordsOf(deps, clientId)).toContainEqual({
      operator: OPERATOR,
      action: 'register-endpoint',
      before: undefined,
      after,
    })
    expect(JSON.stringify(deps.lines)).not.toContain(signingSecret)
  })

  it.for([
    ['https://good.example\\@evil.example/', 'https://good.example/@evil.example/'],
    ['https://mеrchant.example/hooks', 'https://xn--mrchant-7gg.example/hooks'],
    ['https://MERCHANT.example:443/a/../b#part', 'https://merchant.example/b'],
  ] as const)(
    'stores and shows a URL as it will be called: %s',
    async ([url, called], { deps, clientId }) => {
      const { body } = await register(deps, clientId, { url })

      expect(body).toMatchObject({ url: called })
      expect(await liveEndpoints(deps, clientId)).toMatchObject([{ url: called }])
      expect(deps.published).toMatchObject([{ message: expect.stringContaining(`"${called}"`) }])
    },
  )

  it('a new endpoint, other events and a re-enabled one raise an alert before they act', async ({
    deps,
    clientId,
  }) => {
    await register(deps, clientId)
    const [endpoint] = await liveEndpoints(deps, clientId)
    if (!endpoint) throw new Error('no endpoint was registered')
    for (const payload of [
      { enabled: false },
      { event_types: [FAILED] },
      { enabled: true },
      { enabled: true },
      { event_types: ['*'] },
    ])
      await update(deps, endpoint, payload)

    const typed = (events: string) =>
      `Typed by the operator: "${URL_OF_MERCHANT}" for ${events}, as operator "${OPERATOR}".`
    expect(deps.published.map(({ kind }) => kind)).toStrictEqual(
      Array.from({ length: 3 }, () => 'client.access_changed'),
    )
    expect(deps.published.map(({ message }) => message)).toMatchObject(
      ['*', FAILED, '*'].map((events) => expect.stringContaining(typed(events))),
    )
    const { records } = await readAuditRecords(deps, clientId)
    const { requestId } = records.find(({ action }) => action === 'register-endpoint') ?? {}
    expect(deps.published[0]?.message).toMatch(
      new RegExp(
        `^Request ${requestId} sends events to the webhook endpoint ${endpoint.endpointId} of client`,
      ),
    )
  })

  it('writes nothing when its alert cannot be sent', async ({ deps, clientId }) => {
    expect(await register(withoutTopic(deps), clientId)).toMatchObject({ status: 500 })
    expect(await liveEndpoints(deps, clientId)).toStrictEqual([])
  })

  const UNKNOWN_NAME =
    'must be ("payment.succeeded" | "payment.failed" | "payment.expired" | "payment.reversed" ' +
    '| "payment.disputed" | "payment.held" | "settlement.recorded" | "settlement.paid" ' +
    '| "settlement.failed" | "*")'
  const MIXED_NAMES =
    'must be ["*"] alone or with payment.reversed, payment.disputed, payment.held, ' +
    'settlement.recorded, settlement.paid, settlement.failed, or a list of names'
  it.each([
    ['an http URL', { url: 'http://merchant.example/' }, 'url', 'must be an https URL'],
    [
      'a long URL',
      { url: `https://m.example/${'é'.repeat(400)}` },
      'url',
      'at most 2048 characters',
    ],
    ['a loopback URL', { url: LOOPBACK }, 'url', 'must be an https URL'],
    [
      'a name that leads to a private address',
      {},
      'url',
      'resolves to a private or special address',
    ],
    ['no event types', { event_types: [] }, 'event_types', 'must name at least one event type'],
    [
      'an event type twice',
      { event_types: [FAILED, FAILED] },
      'event_types',
      'must not name an event type twice',
    ],
    ['all event types and one of them', { event_types: ['*', FAILED] }, 'event_types', MIXED_NAMES],
    [
      'an unknown event type',
      { event_types: ['payment.cancelled'] },
      'event_types.0',
      UNKNOWN_NAME,
    ],
  ])('refuses %s with a reason and a hint', async (_case, payload, field, reason) => {
    const { deps, clientId } = await withClient({
      resolveHost: async () => [{ address: '10.1.2.3', family: 4 }],
    })

    const { status, body } = await register(deps, clientId, payload)

    const refusal = {
      message: `${field}: ${reason}`,
      code: 'validation',
      field_errors: { [field]: [reason] },
    }
    expect({ status, body }).toStrictEqual({
      status: 422,
      body: { ...refusal, action_hint: expect.any(String) },
    })
    expect(await liveEndpoints(deps, clientId)).toStrictEqual([])
  })

  it('accepts loopback in stage local', async () => {
    const { deps, clientId } = await withClient({ stage: { allowLoopbackWebhooks: true } })

    expect(await register(deps, clientId, { url: LOOPBACK })).toMatchObject({
      status: 200,
      body: { url: LOOPBACK },
    })
  })

  it('allows twenty endpoints, also for concurrent calls: disabled endpoints count, deleted endpoints do not', async ({
    deps,
    clientId,
  }) => {
    for (let made = 0; made < 19; made++) await register(deps, clientId)
    const raced = beforeCommit(deps, () => register(deps, clientId))
    const body = {
      message: 'a client has at most 20 endpoints',
      action_hint: 'Delete one that is not used.',
    }

    expect(await register(raced, clientId)).toMatchObject({ status: 422, body })
    const [last, ...others] = (await liveEndpoints(deps, clientId)) as readonly [
      Endpoint,
      ...Endpoint[],
    ]
    expect(others).toHaveLength(19)
    await update(deps, last, { enabled: false })
    expect(await register(deps, clientId)).toMatchObject({ status: 422, body })

    for (let tried = 0; tried < 2; tried++) await remove(deps, last)
    expect(await register(deps, clientId)).toMatchObject({ status: 200 })
    expect(await register(deps, clientId)).toMatchObject({ status: 422, body })
  })
})

describe('the endpoints of a client (spec 2.4, 6.1, 6.2, 6.4)', () => {
  const paidPayment = async (deps: TestDeps, client: Client) => {
    const { paymentRequestId } = await aPendingPayment(deps, client)
    const providerPaymentId = deps.provider.pay(paymentRequestId)
    await notifyOf(deps, providerPaymentId)
    await drainQueue(deps)
    return deps.webhooks.splice(0)
  }
  const registered = async (deps: TestDeps, clientId: string, payload: object) =>
    Object((await register(deps, clientId, payload)).body) as Record<string, string>

  webhookTest(
    'are read once for a page, for half of the time that the read is fresh',
    async ({ deps, delivery: { clientId } }) => {
      const endpointsOf = readsOfPage(deps)
      const now = deps.now()
      const read = endpointsOf(clientId, now)

      expect(endpointsOf(clientId, addMs(now, 2_499))).toBe(read)
      expect(endpointsOf(clientId, addMs(now, 2_500))).not.toBe(read)
    },
  )

  it('get only the events of their list, or all with `*`', async ({ deps, client, clientId }) => {
    const LISTS = { all: ['*'], paid: ['payment.succeeded'], failed: [FAILED, 'payment.expired'] }
    for (const [name, event_types] of Object.entries(LISTS))
      await register(deps, clientId, { url: `https://${name}.example/`, event_types })

    const posts = await paidPayment(deps, client)

    expect(posts.map(({ url }) => url).toSorted()).toStrictEqual([
      'https://all.example/',
      'https://paid.example/',
    ])
  })

  it('get one event under their own delivery id and secret; a new endpoint and the deletion of the old exchange the secret', async ({
    deps,
    client,
    clientId,
  }) => {
    const urls = ['https://old.example/', 'https://new.example/']
    const made = await Promise.all(urls.map((url) => registered(deps, clientId, { url })))
    const signed = (posts: TestDeps['webhooks']) =>
      posts.map(({ url, headers, body }) => {
        const secret = made[urls.indexOf(url)]?.['signing_secret'] ?? ''
        const own = createHmac('sha256', secret).update(body).digest('hex')
        return headers['X-Gateway-Signature'] === own
      })

    const posts = await paidPayment(deps, client)
    const [old] = (await liveEndpoints(deps, clientId)).filter(({ url }) => url === urls[0])
    if (old) await remove(deps, old)
    const later = await paidPayment(deps, client)

    expect(new Set(made.map((endpoint) => endpoint['signing_secret'])).size).toBe(2)
    expect(signed(posts)).toStrictEqual([true, true])
    expect(new Set(posts.map(({ body }) => body.toString('utf8'))).size).toBe(1)
    const eventIds = [...posts, ...later].map(
      ({ body }) => Object(JSON.parse(String(body))).event_id,
    )
    expect(new Set(eventIds).size).toBe(2)
    expect(new Set(posts.map(({ headers }) => headers['X-Gateway-Delivery-Id'])).size).toBe(2)
    expect([later.map(({ url }) => url), signed(later)]).toStrictEqual([[urls[1]], [true]])
  })
})
