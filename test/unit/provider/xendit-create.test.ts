import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { xenditProvider } from '../../../shared/provider/xendit/xendit-provider.ts'
import { timestampOf } from '../../../shared/time.ts'
import { cut, json, type Script, silence, startScriptedServer } from '../../support/scripted-server.ts'
import {
  type Asked,
  aCreateInput,
  created,
  PROVIDER_KEY,
  PROVIDER_SECRET,
  scriptedProvider,
} from '../../support/xendit-provider.ts'

const TIMEOUT_MS = 5_000

const stalled: Script = (response) => void response.writeHead(201).write('{')

const create = async (script: Script, input: Asked = {}, timeoutMs = TIMEOUT_MS) =>
  (await scriptedProvider(script)).provider.createRequest(aCreateInput(input), timeoutMs)

const sentBody = async (input: Asked): Promise<Record<string, unknown>> => {
  const { provider, server } = await scriptedProvider(created())
  await provider.createRequest(aCreateInput(input), TIMEOUT_MS)
  return JSON.parse(server.requests[0]?.body ?? '{}')
}

describe('xendit create: the request', () => {
  it('carries key, version, an idempotency key of its own, and the whole body', async () => {
    const { provider, server } = await scriptedProvider(created())
    const input = aCreateInput({ expiresAt: timestampOf(Date.UTC(2026, 10, 21, 4)), description: 'Two coffees' })

    await provider.createRequest(input, TIMEOUT_MS)

    expect(server.requests).toHaveLength(1)
    expect(server.requests[0]).toMatchObject({
      method: 'POST',
      url: '/v3/payment_requests',
      headers: {
        authorization: `Basic ${Buffer.from(`${PROVIDER_KEY}:`).toString('base64')}`,
        'api-version': '2024-11-11',
        'idempotency-key': input.reference,
        'content-type': 'application/json',
      },
    })
    expect(JSON.parse(server.requests[0]?.body ?? '')).toStrictEqual({
      reference_id: input.reference,
      type: 'PAY',
      country: 'ID',
      currency: 'IDR',
      request_amount: 150_000,
      capture_method: 'AUTOMATIC',
      channel_code: 'BCA_VIRTUAL_ACCOUNT',
      channel_properties: { display_name: 'Warung Kopi', expires_at: '2026-11-21T04:00:00.000Z' },
      description: 'Two coffees',
    })
  })

  const returnUrl = 'https://merchant.example/return'
  const twoUrls = { success_return_url: returnUrl, failure_return_url: returnUrl }

  it.each<[Asked, string, object]>([
    [{ channelCode: 'BNI' }, 'BNI_VIRTUAL_ACCOUNT', { display_name: 'Warung Kopi' }],
    [{ channelCode: 'PERMATA' }, 'PERMATA_VIRTUAL_ACCOUNT', { display_name: 'Warung Kopi' }],
    [{ method: 'qris', channelCode: undefined }, 'QRIS', {}],
    [{ method: 'ewallet', channelCode: 'OVO', phone: '+628123' }, 'OVO', { account_mobile_number: '+628123' }],
    [{ method: 'ewallet', channelCode: 'DANA' }, 'DANA', twoUrls],
    [{ method: 'ewallet', channelCode: 'LINKAJA' }, 'LINKAJA', twoUrls],
    [{ method: 'ewallet', channelCode: 'SHOPEEPAY' }, 'SHOPEEPAY', twoUrls],
    [{ method: 'ewallet', channelCode: 'GOPAY' }, 'GOPAY', { ...twoUrls, cancel_return_url: returnUrl }],
    [{ method: 'ewallet', channelCode: 'NEWPAY' }, 'NEWPAY', twoUrls],
    [{ method: 'ewallet', channelCode: 'CONSTRUCTOR' }, 'CONSTRUCTOR', twoUrls],
  ])('for %j names channel %s with its properties', async (input, channelCode, properties) => {
    const body = await sentBody(input)

    expect(body).toMatchObject({ channel_code: channelCode })
    expect(body['channel_properties']).toStrictEqual(properties)
  })

  it('sends no empty description, which the provider refuses', async () => {
    expect(await sentBody({ description: '' })).not.toHaveProperty('description')
  })

  it.each(['QRIS', 'BCA_VIRTUAL_ACCOUNT', 'CARDS', ''])(
    'does not let an e-wallet code of %j open another kind of channel',
    async (channelCode) => {
      const { provider, server } = await scriptedProvider(created())

      const answer = await provider.createRequest(aCreateInput({ method: 'ewallet', channelCode }), TIMEOUT_MS)

      expect(answer).toStrictEqual({ kind: 'refused', code: 'NOT_AN_EWALLET' })
      expect(server.requests).toStrictEqual([])
    },
  )
})

describe('xendit create: what an answer proves (design section 4)', () => {
  const request = {
    paymentRequestId: 'pr-1',
    reference: aCreateInput().reference,
    status: 'open',
    latestPaymentId: undefined,
    destination: '381652390000001',
  }

  it.each([200, 201])('created: a readable %i', async (status) => {
    expect(await create(created({}, status))).toStrictEqual({ kind: 'created', request })
  })

  it('created: ids under either name, amounts as text, unknown fields and states', async () => {
    const answer = await create(
      created({
        payment_request_id: undefined,
        id: 'pr-1',
        request_amount: '150000',
        status: 'SOMETHING_NEW',
        business_id: { surprise: true },
      }),
    )

    expect(answer).toStrictEqual({ kind: 'created', request })
  })

  it.each<[string, object]>([
    ['without an id', { payment_request_id: undefined }],
    ['with an id that is no id', { payment_request_id: 'pr-1/../../v3/payments' }],
    ['without a status', { status: undefined }],
    ['with actions that are none', { actions: 'VIRTUAL_ACCOUNT_NUMBER' }],
    ['about another reference', { reference_id: `${aCreateInput().reference}0` }],
    ['about another amount', { request_amount: 150_001 }],
    ['without an amount', { request_amount: undefined }],
  ])('unknown: a 201 %s', async (_, overrides) => {
    expect(await create(created(overrides))).toMatchObject({ kind: 'unknown' })
  })

  it.each<[string, Script]>([
    ['malformed JSON', (response) => response.writeHead(201).end('{"payment_request_id":"pr-1"')],
    ['nothing', (response) => response.writeHead(201).end()],
    ['too much', (response) => response.writeHead(201).end(`{"a":"${'x'.repeat(2 ** 20)}"}`)],
    ['a list', json(201, [])],
    ['a redirect', (response) => response.writeHead(302, { location: '/elsewhere' }).end()],
    ['a 202', json(202, {})],
    ['a cut connection', cut],
  ])('unknown: %s', async (_, script) => {
    expect(await create(script)).toMatchObject({ kind: 'unknown' })
  })

  it('unknown: silence until the deadline, and a body that stalls', async () => {
    expect(await create(silence, {}, 80)).toStrictEqual({ kind: 'unknown', reason: 'timeout' })
    // Long enough for the head to arrive on a busy machine too: what is tested is the wait for the rest.
    expect(await create(stalled, {}, 1_500)).toStrictEqual({
      kind: 'unknown',
      reason: 'unreadable answer',
      answered: true,
    })
  })

  it.each([
    [500, 'SERVER_ERROR'],
    [502, 'BAD_GATEWAY'],
    [503, 'CHANNEL_UNAVAILABLE'],
    [504, 'GATEWAY_TIMEOUT'],
    [409, 'DATA_NOT_FOUND'],
    [409, 'DUPLICATE_ERROR'],
    [400, 'DUPLICATE_ERROR'],
    [408, 'REQUEST_TIMEOUT'],
  ])('unknown: %i %s', async (status, code) => {
    const answer = await create(json(status, { error_code: code, message: 'secret details' }))

    expect(answer).toStrictEqual({ kind: 'unknown', reason: `HTTP ${status} ${code}`, answered: true })
  })

  it.each([
    [400, 'API_VALIDATION_ERROR'],
    [400, 'INVALID_VALUE_ERROR'],
    [422, 'INVALID_PAYMENT_DETAILS'],
  ])('refused, for what the payment is: %i %s', async (status, code) => {
    expect(await create(json(status, { error_code: code, message: 'x' }))).toStrictEqual({ kind: 'refused', code })
  })

  it.each([
    [401, 'INVALID_API_KEY'],
    [403, 'REQUEST_FORBIDDEN_ERROR'],
    [403, 'CHANNEL_NOT_ACTIVATED'],
    [403, 'UNKNOWN_TO_US'],
    [404, 'DATA_NOT_FOUND'],
    [400, 'CHANNEL_NOT_ACTIVATED'],
    [422, 'INVALID_MERCHANT_SETTINGS'],
  ])('refused, for what our account is: %i %s', async (status, code) => {
    const answer = await create(json(status, { error_code: code, message: 'x' }))

    expect(answer).toStrictEqual({ kind: 'refused', code, ofAccount: true })
  })

  it.each<unknown>([
    undefined,
    {},
    { error_code: 'not a code' },
    { error_code: 'X'.repeat(65) },
    { error_code: { nested: true } },
    { error_code: '<script>' },
    'API_VALIDATION_ERROR',
  ])('refused as UNKNOWN when the code is not one that may be shown: %j', async (body) => {
    expect(await create(json(400, body))).toStrictEqual({ kind: 'refused', code: 'UNKNOWN' })
  })

  it.each([
    [429, 'RATE_LIMIT_EXCEEDED'],
    [429, 'UNKNOWN'],
    [400, 'PAYMENT_REQUEST_RATE_LIMITED'],
    [400, 'TEMPORARILY_UNAVAILABLE'],
  ])('not executed: %i %s', async (status, code) => {
    expect(await create(json(status, { error_code: code }))).toStrictEqual({ kind: 'not_executed', reason: code })
  })

  it('not executed: a connection that was never made', async () => {
    const { provider, server } = await scriptedProvider(silence)
    await server.close()

    const answer = await provider.createRequest(aCreateInput(), TIMEOUT_MS)

    expect(answer).toStrictEqual({ kind: 'not_executed', reason: 'ECONNREFUSED' })
  })

  it.each<[string, () => Promise<string | undefined>]>([
    ['missing', async () => undefined],
    ['malformed', async () => '{"secret_key":""}'],
    ['unreadable', async () => Promise.reject(new Error(`cannot decrypt ${PROVIDER_SECRET}`))],
  ])('not executed: a key that is %s, which is never sent or told', async (_, get) => {
    const server = await startScriptedServer(created())
    const provider = xenditProvider({ baseUrl: server.url, stage: 'test', secrets: { get }, nowMs: Date.now })

    const answer = await provider.createRequest(aCreateInput(), TIMEOUT_MS)

    expect(answer).toStrictEqual({ kind: 'not_executed', reason: 'no usable provider key' })
    expect(server.requests).toStrictEqual([])
  })

  it('sends amounts of every size as JSON integers', async () => {
    expect(await sentBody({ amountMinor: minor(1_000_000_000_000) })).toMatchObject({
      request_amount: 1_000_000_000_000,
    })
  })
})
