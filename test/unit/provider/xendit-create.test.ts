import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { timestampOf } from '../../../shared/time.ts'
import { NEVER_MS } from '../../support/patience.ts'
import {
  type Asked,
  aCreateInput,
  createdAnswer,
  PROVIDER_KEY,
  PROVIDER_SECRET,
  scriptedProvider,
  VA_NUMBER,
} from '../../support/scripted-provider.ts'
import { answerScript, json, type Script, silence } from '../../support/scripted-server.ts'

/** The answer to a create, and the requests that were sent for it. */
async function create(script: Script, input: Asked = {}, timeoutMs = NEVER_MS) {
  const { provider, server } = await scriptedProvider(script)
  const answer = await provider.createRequest(aCreateInput(input), timeoutMs)
  return {
    answer,
    requests: server.requests,
    bodies: server.requests.map(({ body }) => JSON.parse(body) as object),
  }
}

function wallet(channelCode: string) {
  return { method: 'ewallet', channelCode, phone: '+628123456789' } as const
}
const QRIS = { method: 'qris', channelCode: undefined } as const

describe('xendit create: the request', () => {
  it('carries the key, its own idempotency key and the whole body', async () => {
    const expiresAt = timestampOf(Date.UTC(2026, 10, 21, 4))

    const { requests, bodies } = await create(createdAnswer(), {
      expiresAt,
      description: 'Two coffees',
    })

    const { reference } = aCreateInput()
    const headers = {
      authorization: `Basic ${btoa(`${PROVIDER_KEY}:`)}`,
      'idempotency-key': reference,
      // Nothing decodes an answer that a proxy has compressed.
      'accept-encoding': 'identity',
    }
    expect(requests).toMatchObject([{ headers }])
    expect(bodies).toStrictEqual([
      {
        reference_id: reference,
        type: 'PAY',
        country: 'ID',
        currency: 'IDR',
        request_amount: 150_000,
        capture_method: 'AUTOMATIC',
        channel_code: 'BCA_VIRTUAL_ACCOUNT',
        channel_properties: { display_name: 'Warung Kopi', expires_at: '2026-11-21T04:00:00.000Z' },
        description: 'Two coffees',
      },
    ])
  })

  it.each([
    ['a'.repeat(1_000), 'a'.repeat(1_000)],
    [`a${'😀'.repeat(500)}`, `a${'😀'.repeat(499)}`],
  ])(
    'has at most 1,000 UTF-16 units of a description, cut at a whole character',
    async (text, sent) => {
      const { bodies } = await create(createdAnswer(), { description: text })

      expect(bodies).toMatchObject([{ description: sent }])
    },
  )

  it('goes over a connection of its own each time', async () => {
    const ports = new Set<number | undefined>()
    const { provider } = await scriptedProvider((response, request) => {
      ports.add(response.socket?.remotePort)
      return createdAnswer()(response, request)
    })

    for (let calls = 0; calls < 2; calls++) await provider.createRequest(aCreateInput(), NEVER_MS)

    expect(ports.size).toBe(2)
  })

  const returnUrl = 'https://merchant.example/return'
  const twoUrls = { success_return_url: returnUrl, failure_return_url: returnUrl }

  it.each<[Asked, string, object]>([
    [wallet('GOPAY'), 'GOPAY', { ...twoUrls, cancel_return_url: returnUrl }],
    [wallet('NEWPAY'), 'NEWPAY', twoUrls],
  ])('for %j names channel %s with its properties', async (input, channelCode, properties) => {
    const [body] = (await create(createdAnswer(), input)).bodies

    expect(body).toMatchObject({ channel_code: channelCode })
    expect(body).toHaveProperty('channel_properties', properties)
  })

  it('sends no empty description, which the provider refuses, and amounts of every size as JSON integers', async () => {
    const { bodies } = await create(createdAnswer(), {
      description: '',
      amountMinor: minor(1_000_000_000_000),
    })

    expect(bodies).toMatchObject([{ request_amount: 1_000_000_000_000 }])
    expect(bodies[0]).not.toHaveProperty('description')
  })
})

const WEB_URL = {
  type: 'REDIRECT_CUSTOMER',
  descriptor: 'WEB_URL',
  value: 'https://wallet.example/checkout/1?a=b',
}
const DEEPLINK = { type: 'REDIRECT_CUSTOMER', descriptor: 'DEEPLINK_URL', value: 'gojek://pay/1' }
const QR_STRING = { type: 'PRESENT_TO_CUSTOMER', descriptor: 'QR_STRING', value: '00020101021226' }

type Actions = readonly object[] | null | undefined

const UNSHOWABLE: readonly (readonly [string, Asked, Actions])[] = [
  ['an answer without actions', wallet('OVO'), undefined],
  ['an answer with null for actions', wallet('OVO'), null],
  ['a virtual account without a number', {}, []],
  ['a text that is no number', {}, [{ ...VA_NUMBER, value: '12ab' }]],
  ['QRIS without a string', QRIS, [WEB_URL]],
  ['a wallet without a link', wallet('DANA'), [QR_STRING]],
  ['a link of code', wallet('DANA'), [{ ...WEB_URL, value: 'javascript:alert(1)' }]],
  ['a text that is no link', wallet('DANA'), [{ ...WEB_URL, value: 'checkout' }]],
]

it.each<readonly [string, Asked, Actions, string | undefined]>([
  ['the virtual account number', {}, [WEB_URL, VA_NUMBER], VA_NUMBER.value],
  ['the QR string', QRIS, [WEB_URL, QR_STRING], QR_STRING.value],
  ['the page rather than the app link', wallet('DANA'), [DEEPLINK, WEB_URL], WEB_URL.value],
  ['the app link where there is no page', wallet('GOPAY'), [DEEPLINK], DEEPLINK.value],
  ['the page of a wallet we do not know', wallet('NEWPAY'), [WEB_URL], WEB_URL.value],
  [
    'the number beside actions we cannot read',
    {},
    [{}, { descriptor: 7, value: {} }, VA_NUMBER],
    VA_NUMBER.value,
  ],
  ...UNSHOWABLE.map(
    ([name, input, actions]) => [`no destination: ${name}`, input, actions, undefined] as const,
  ),
])(
  'xendit create: the customer is shown (spec 2.1.2) %s',
  async (_case, input, actions, destination) => {
    const { answer } = await create(createdAnswer({ actions }), input)

    expect(answer).toMatchObject({
      kind: 'created',
      request: { paymentRequestId: 'pr-1', status: 'open', destination },
    })
  },
)

describe('xendit create: what an answer proves (design section 4)', () => {
  const request = {
    paymentRequestId: 'pr-1',
    reference: aCreateInput().reference,
    status: 'open',
    failureReason: undefined,
    latestPaymentId: undefined,
    destination: '381652390000001',
  }

  it.each<[string, Script]>([
    ['a readable 200', createdAnswer({}, 200)],
    ['ids under the other name', createdAnswer({ payment_request_id: undefined, id: 'pr-1' })],
    ['amounts as text, unknown fields', createdAnswer({ request_amount: '150000', a: {} })],
    ['a value beside null', createdAnswer({ payment_request_id: null, id: 'pr-1' })],
    ['null among its actions', createdAnswer({ actions: [null, VA_NUMBER] })],
  ])('finds the request created by %s', async (_case, script) => {
    expect((await create(script)).answer).toStrictEqual({ kind: 'created', request })
  })

  it.each([
    ['SUCCEEDED', 'succeeded'],
    ['STATE_OF_TOMORROW', 'unknown'],
  ])('reads status %s of the answer as %s', async (status, expected) => {
    expect((await create(createdAnswer({ status }))).answer).toMatchObject({
      kind: 'created',
      request: { status: expected },
    })
  })

  it.each<[string, Script]>([
    ['a 201 without an id', createdAnswer({ payment_request_id: undefined })],
    [
      'a 201 with an id that is no id',
      createdAnswer({ payment_request_id: 'pr-1/../../v3/payments' }),
    ],
    ['a 201 without a status', createdAnswer({ status: undefined })],
    ['a 201 with actions that are no list', createdAnswer({ actions: 'VIRTUAL_ACCOUNT_NUMBER' })],
    ['a 201 about another reference', createdAnswer({ reference_id: `${request.reference}0` })],
    ['a 201 about another amount', createdAnswer({ request_amount: 150_001 })],
    ['a 201 without an amount', createdAnswer({ request_amount: undefined })],
    ['a 201 in another currency', createdAnswer({ currency: 'USD' })],
    ['a 201 of another channel', createdAnswer({ channel_code: 'BNI_VIRTUAL_ACCOUNT' })],
    ['nothing that can be read', answerScript(201)],
    ['a 202', json(202, {})],
  ])('finds the request unknown by %s', async (_case, script) => {
    expect((await create(script)).answer).toMatchObject({ kind: 'unknown' })
  })

  // Public report: x402-payments #40.
  it.each<[string, Script]>([
    ['silence', silence],
    ['a body that stalls', (response) => void response.writeHead(201).write('{')],
  ])('finds the request unknown by %s until the deadline', async (_case, script) => {
    expect((await create(script, {}, 80)).answer).toMatchObject({ kind: 'unknown' })
  })

  const PROOFS = {
    unknown: (reason: string) => ({ kind: 'unknown', reason, answered: true }),
    'refused, for what the payment is': (_: string, code: string) => ({ kind: 'refused', code }),
    'refused, for what our account is': (_: string, code: string) => ({
      kind: 'refused',
      code,
      isAccountWide: true,
    }),
    'refused, for a channel that is not activated': (_: string, code: string) => ({
      kind: 'refused',
      code,
      isNotActivated: true,
    }),
    'not executed': (_: string, reason: string) => ({ kind: 'not_executed', reason }),
  }

  it.each([
    ['unknown', 400, 'DUPLICATE_ERROR'],
    ['unknown', 400, 'IDEMPOTENCY_ERROR'],
    ['unknown', 408, 'REQUEST_TIMEOUT'],
    ['unknown', 503, 'TEMPORARILY_UNAVAILABLE'],
    ['refused, for what the payment is', 400, 'API_VALIDATION_ERROR'],
    ['refused, for what the payment is', 422, 'INVALID_PAYMENT_DETAILS'],
    ['refused, for what our account is', 400, 'INVALID_API_KEY'],
    ['refused, for what our account is', 401, 'UNKNOWN_TO_US'],
    ['refused, for what our account is', 403, 'UNKNOWN_TO_US'],
    ['refused, for what our account is', 404, 'DATA_NOT_FOUND'],
    ['refused, for a channel that is not activated', 400, 'CHANNEL_NOT_ACTIVATED'],
    ['refused, for a channel that is not activated', 403, 'INVALID_MERCHANT_SETTINGS'],
    ['not executed', 400, 'TEMPORARILY_UNAVAILABLE'],
  ] as const)('finds the request %s by %i %s', async (proof, status, code) => {
    const { answer } = await create(json(status, { error_code: code, message: 'secret details' }))

    expect(answer).toStrictEqual(PROOFS[proof](`HTTP ${status} ${code}`, code))
  })

  // Every refusal of the provider has a code. A proxy may answer after the request was created.
  it.each<readonly [number, unknown]>([
    ...[400, 401, 403, 404, 422, 429].map((status) => [status, '<html>Forbidden</html>'] as const),
    [400, {}],
    ...['not a code', 'X'.repeat(65), { nested: true }, '<script>'].map(
      (error_code) => [400, { error_code }] as const,
    ),
  ])('finds the request unknown by %i with %j, which is no refusal', async (status, body) => {
    expect((await create(json(status, body))).answer).toStrictEqual({
      kind: 'unknown',
      reason: `HTTP ${status} without an error code`,
      answered: true,
    })
  })

  it('knows that a request without a connection or a readable key was not executed, and never shows the key', async () => {
    const get = async () => Promise.reject(new Error(`cannot decrypt ${PROVIDER_SECRET}`))
    const [unreachable, keyless] = [
      await scriptedProvider(silence),
      await scriptedProvider(createdAnswer(), Date.now, get),
    ]
    await unreachable.server.close()

    const answers = [unreachable, keyless].map(({ provider }) =>
      provider.createRequest(aCreateInput(), NEVER_MS),
    )

    const reasons = ['ECONNREFUSED', 'no usable provider key']
    expect(await Promise.all(answers)).toStrictEqual(
      reasons.map((reason) => ({ kind: 'not_executed', reason })),
    )
    expect(keyless.server.requests).toStrictEqual([])
  })
})
