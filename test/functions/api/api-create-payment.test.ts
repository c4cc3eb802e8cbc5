import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { PaymentIdSchema, subjectOfPayment } from '../../../shared/ids.ts'
import { parseOwnJson } from '../../../shared/json.ts'
import { inflateText } from '../../../shared/table/deflated-text.ts'
import { eventKey } from '../../../shared/table/keys.ts'
import { API, type ApiClient, anApi, aPaymentBody, call } from '../../support/api-event.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { ledgerView } from '../../support/payment-builders.ts'
import { notifyOf } from '../../support/synced-payment.ts'
import { beforeFirst, type TestDeps, testDeps } from '../../support/test-deps.ts'

const OVO = { method: 'ewallet', channel_code: 'OVO', customer: { phone: '+6281234567890' } }
const BCA = { method: 'virtual_account', channel_code: 'BCA' }
const QRIS = { method: 'qris', channel_code: undefined }

const SITI = { name: 'Siti', email: 'siti@example.com', phone: '+6281234567890' }

async function create(fields: Readonly<Record<string, unknown>> = {}, deps = testDeps()) {
  return (await anApi({}, deps)).ask('createPayment', { body: aPaymentBody(fields) })
}

describe('POST /v1/payments (spec 4.1, 2.1)', () => {
  it('answers 201 with the pending payment and every field that has a value, and counts it', async () => {
    const { deps, caller, ask } = await anApi()
    const sent = {
      external_reference: 'order-1',
      customer: SITI,
      description: 'Kopi ☕',
      metadata: { cart: [1, 2] },
    }

    const asked = aPaymentBody({ ...sent, expires_in_seconds: 3_600 })
    const { status, headers, body } = await ask('createPayment', { body: asked })

    expect(status).toBe(201)
    expect(headers).not.toHaveProperty('idempotency-replayed')
    expect(body).toStrictEqual({
      id: expect.stringMatching(
        /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
      ) as string,
      client_id: caller.clientId,
      ...sent,
      method: 'virtual_account',
      channel_code: 'BCA',
      notional_minor: 100_000,
      xendit_fee_minor: 4_000,
      hexolus_markup_minor: 100,
      client_net_minor: 95_900,
      fee_status: 'estimated',
      currency: 'IDR',
      status: 'pending',
      payment_destination: '381652390000001',
      created_at: '2026-11-20T04:00:00.000Z',
      expires_at: '2026-11-20T05:00:00.000Z',
    })
    expect(await ledgerView(deps, caller)).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })

  it.each([
    ['', ''],
    ['  Order 1\n', ' Kopi\t'],
    ['订单-1 ☕ 👍🏽', '\u0000\u2028'],
    ['"quoted\\"', 'null'.repeat(60)],
  ])(
    'echoes reference %j and description %j unchanged, on later reads too',
    async (reference, description) => {
      const { ask } = await anApi()
      const sent = {
        external_reference: reference,
        description,
        customer: { name: description, email: reference },
      }

      const created = await ask('createPayment', { body: aPaymentBody(sent) })
      const fetched = await ask('getPayment', { id: String(created.body['id']) })

      expect(created.body).toMatchObject(sent)
      expect(fetched.text).toBe(created.text)
    },
  )

  it.each([
    [null, undefined],
    [{}, undefined],
    [{ name: null, email: null, phone: null }, undefined],
    [{ name: 'Siti', email: null }, { name: 'Siti' }],
  ])(
    'ignores null in optional fields, also in the customer %j',
    async (customer, expectedCustomer) => {
      const nothing = {
        external_reference: null,
        description: null,
        metadata: null,
        expires_in_seconds: null,
      }

      const { status, body } = await create({ ...QRIS, channel_code: '', ...nothing, customer })

      const { customer: shownCustomer, ...otherFields } = body
      expect([status, shownCustomer]).toStrictEqual([201, expectedCustomer])
      const amounts = [
        'client_net_minor',
        'hexolus_markup_minor',
        'notional_minor',
        'xendit_fee_minor',
      ]
      const texts = [
        'client_id',
        'currency',
        'fee_status',
        'id',
        'method',
        'payment_destination',
        'status',
      ]
      expect(new Set(Object.keys(otherFields))).toStrictEqual(
        new Set([...amounts, ...texts, 'created_at', 'expires_at']),
      )
    },
  )

  it('shows an empty destination for a push payment, even if the provider sends a destination', async () => {
    const deps = testDeps()
    deps.provider.script('createRequest', (input, timeoutMs) =>
      deps.provider.healthy.createRequest({ ...input, channelCode: 'DANA' }, timeoutMs),
    )

    expect(await create(OVO, deps)).toMatchObject({
      status: 201,
      body: { payment_destination: '' },
    })
  })

  const nothing = { expiresAt: undefined, displayName: undefined, phone: undefined, returnUrls: {} }
  const displayName = expect.stringMatching(/^Warung/) as string
  const returnUrls = {
    success: 'https://merchant.example/return',
    failure: 'https://merchant.example/return',
  }

  it.each<
    readonly [
      { method: string; channel_code?: string | undefined },
      fee: number,
      destination: string,
      object,
    ]
  >([
    [BCA, 4_000, '381652390000001', { expiresAt: '2026-11-20T04:10:00.000Z', displayName }],
    [OVO, 3_000, '', { phone: OVO.customer.phone }],
    [
      { method: 'ewallet', channel_code: 'DANA' },
      2_750,
      'https://checkout.example/DANA',
      { returnUrls },
    ],
    [
      { method: 'ewallet', channel_code: 'ASTRAPAY' },
      3_500,
      'https://checkout.example/ASTRAPAY',
      { returnUrls },
    ],
    [QRIS, 1_050, '00020101021226-a-qr-string', {}],
  ])(
    'computes the fees of %j, calls the provider, and shows where to pay',
    async (channel, fee, destination, needed) => {
      const deps = testDeps()
      const sameFields = {
        external_reference: 'order-1',
        metadata: { a: 1 },
        expires_in_seconds: 600,
        amount: 150_003,
      }

      const { status, body } = await create(
        { customer: SITI, description: 'Kopi', ...sameFields, ...channel },
        deps,
      )

      expect(status).toBe(201)
      expect(body).toMatchObject({
        method: channel.method,
        notional_minor: 150_003,
        xendit_fee_minor: fee,
        hexolus_markup_minor: 150,
        client_net_minor: 150_003 - fee - 150,
        payment_destination: destination,
      })
      expect(body['channel_code']).toBe(channel.channel_code)
      const [request] = deps.provider.requests.values()
      expect(request?.input).toStrictEqual({
        reference: `${String(body['id'])}-1`,
        method: channel.method,
        channelCode: channel.channel_code,
        amountMinor: 150_003,
        description: 'Kopi',
        ...nothing,
        ...needed,
      })
    },
  )
})

function metadataIn(text: string) {
  return /"metadata":(.*?),"created_at":"/s.exec(text)?.[1]
}

function createWith(deps: TestDeps, caller: ApiClient, metadata: string, key: string) {
  const body = `{"metadata":${metadata},${JSON.stringify(aPaymentBody()).slice(1)}`
  return call(deps, API.createPayment, { caller, body, headers: { 'Idempotency-Key': key } })
}

describe('metadata (spec 2.1: returned unchanged; design section 5: digit for digit, keys in their order)', () => {
  it.each([
    '{"a":9007199254740993,"b":-123456789012345678901234567890}',
    '{"a":1.0,"b":1e2,"c":1E+2,"d":-0,"e":0.10,"f":1e400,"g":1e-400,"h":0.1234567890123456789}',
    '{"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}},"toString":"x","toJSON":"y","hasOwnProperty":null}',
    '{"isLosslessNumber":true,"value":"5","type":"LosslessNumber"}',
    '{"":"","é ☕":"日本語 👍🏽","quote\\"":"\\\\ \\n \\u0000","\u2028":"\u2029"}',
    '{"b":[{"2":{"1":1.0,"0":{"x":0,"4294967295":1,"7":2}}}],"1":null,"#1":"#","__proto__":{"3":0,"2":0}}',
    `{"a":${'{"a":'.repeat(30)}[]${'}'.repeat(30)}}`,
  ])('%s is the same in every answer, in the webhook and for an operator', async (metadata) => {
    const { deps, caller, ask } = await anApi()

    const created = await createWith(deps, caller, metadata, 'k')
    const id = String(created.body['id'])
    const replayed = await createWith(deps, caller, metadata, 'k')
    const fetched = await ask('getPayment', { id })
    const listed = await ask('listPayments')
    const [request] = deps.provider.requests.values()
    const providerPaymentId = deps.provider.pay(request?.paymentRequestId ?? '')
    await notifyOf(deps, providerPaymentId)
    const paid = await ask('getPayment', { id })
    const events = await ask('listEvents')
    const second = await createWith(deps, caller, metadata, 'other')
    const cancelled = await ask('cancelPayment', { id: String(second.body['id']) })
    const shown = await invokeAdmin('get-payment', deps, { payment_id: id })

    const answers = [created, replayed, fetched, listed, paid, events, second, cancelled]
    expect(answers.map(({ status }) => status)).toStrictEqual([
      201, 200, 200, 200, 200, 200, 201, 200,
    ])
    const event = await deps.table.get(
      eventKey(subjectOfPayment(v.parse(PaymentIdSchema, id)), 'payment.succeeded'),
    )
    const texts = [...answers.map(({ text }) => text), String(inflateText(event?.['body']))]
    expect(texts.map(metadataIn)).toStrictEqual(texts.map(() => metadata))
    // Lambda writes the answer of an action like JSON.stringify: integer-like keys come first.
    expect(metadataIn(JSON.stringify(shown))).toBe(JSON.stringify(parseOwnJson(metadata)))
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })
})

it.each([
  [10, 201],
  [11, 500],
])(
  'one deadline per request (design section 4, Create): after %i s of authentication the answer is %i',
  async (seconds, status) => {
    const { deps, caller } = await anApi()
    const slow = beforeFirst(deps, 'batchGet', () => deps.clock.advance(seconds))

    const answer = await call(slow, API.createPayment, { caller, body: aPaymentBody() })

    expect(answer.status).toBe(status)
    expect(deps.provider.calls).toHaveLength(status === 201 ? 1 : 0)
  },
)
