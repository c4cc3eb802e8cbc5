import { describe, expect, it } from 'vitest'
import { paymentIdForKey } from '../../../shared/ids.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { anApi, aPaymentBody } from '../../support/api-event.ts'
import { ledgerView } from '../../support/payment-builders.ts'
import { BANKS } from '../../support/provider-facts.ts'

const KEY = 'key-1'

/** Sends a body under a key, which is refused and leaves no payment. */
async function refused(body: unknown, merchant = anApi()) {
  const { deps, caller, ask } = await merchant
  const answer = await ask('createPayment', { body, headers: { 'Idempotency-Key': KEY } })
  const stored = await findStoredPayment(deps, paymentIdForKey(caller.clientId, KEY))
  const left = {
    stored,
    ledger: await ledgerView(deps, caller.clientId),
    calls: deps.provider.calls,
  }
  expect(left).toStrictEqual({ stored: undefined, ledger: { pendingMinor: 0 }, calls: [] })
  expect([answer.status, answer.body['code']]).toStrictEqual([422, 'validation'])
  return answer.body
}

async function taken(body: unknown, asBase64 = false) {
  return (await anApi()).ask('createPayment', { body, asBase64 })
}

const MISSING = undefined
/** The second reason of an unsupported method: the message is the spec's. */
const METHODS = 'must be one of virtual_account, ewallet, qris'
function wallet(code: string) {
  return { method: 'ewallet', channel_code: code }
}
const OVO = wallet('OVO')
const CODE = 'channel_code must be 1 to 64 of A-Z, 0-9 and _'
const OVO_PHONE = 'customer.phone required for channel OVO (E.164, +62...)'
const REFERENCE = 'external_reference'
function characters(count: number) {
  return '👍'.repeat(count)
}

const VALID = JSON.stringify(aPaymentBody())

function withMember(member: string) {
  return `{${member},${VALID.slice(1)}`
}
function withAmount(digits: string) {
  return VALID.replace('100000', digits)
}
function withMetadata(json: string) {
  return withMember(`"metadata":${json}`)
}
function nested(levels: number) {
  return `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`
}

/** What is wrong with a body as such. Whatever else is no JSON: `json.test.ts`. */
function invalid(what: string) {
  return `invalid JSON body: ${what}`
}

const METADATA_SURROGATE = 'metadata is not JSON-serialisable: a string has a lone surrogate'
const EXPIRY = 'expires_in_seconds'

const HOSTILE: readonly (readonly [what: string, body: string | Buffer, message: string])[] = [
  ['no bytes', '', invalid('the body is empty')],
  ['null', 'null', invalid('expected an object')],
  ['a byte order mark', `\ufeff${VALID}`, invalid('not well-formed JSON')],
  [
    'Latin-1',
    Buffer.from(withMember('"description":"café"'), 'latin1'),
    invalid('the body is not UTF-8'),
  ],
  [
    '64 KB and a byte',
    VALID + ' '.repeat(65_537 - VALID.length),
    invalid('the body is larger than 64 KB'),
  ],
  [
    '33 metadata levels',
    withMetadata(nested(33)),
    'metadata is not JSON-serialisable: nested deeper than 32 levels',
  ],
  [
    '10,000 levels of objects in metadata',
    withMetadata(nested(10_000)),
    invalid('nested too deeply'),
  ],
  ['a key twice', withMember('"amount":1'), invalid('a key appears twice')],
  ['a fraction', withAmount('1.5'), invalid('amount: must be an integer')],
  ['an amount as text', withAmount('"100000"'), invalid('amount: must be a number')],
  [
    'an expiry of a fraction',
    withMember(`"${EXPIRY}":0.5`),
    invalid(`${EXPIRY}: must be an integer`),
  ],
  ['a method of 5', VALID.replace('"virtual_account"', '5'), invalid('method: must be string')],
  ['a customer of [1]', withMember('"customer":[1]'), invalid('customer: must be an object')],
  [
    'metadata of [[]]',
    withMetadata('[[]]'),
    'metadata is not JSON-serialisable: must be an object',
  ],
  ['an unknown field', withMember('"colour":"red"'), invalid('colour: unknown field')],
  [
    'an unknown field of the customer',
    withMember('"customer":{"age":null}'),
    invalid('customer.age: unknown field'),
  ],
  ['a field in other letters', withMember('"Amount":1'), invalid('Amount: unknown field')],
  ['__proto__', withMember('"__proto__":{"amount":1}'), invalid('__proto__: unknown field')],
  [
    'one that is __proto__',
    withMember('"customer":{"__proto__":{}}'),
    invalid('customer.__proto__: unknown field'),
  ],
  [
    'a field name of 5,000 characters',
    withMember(`"${'x'.repeat(5_000)}":1`),
    invalid('body: unknown field'),
  ],
  ['a lone surrogate as field name', withMember('"\\ud800":1'), invalid('body: unknown field')],
  [
    'a lone surrogate in a key of metadata',
    withMetadata('{"a":[{"\\udc00":1}]}'),
    METADATA_SURROGATE,
  ],
  ['a lone surrogate in a text of metadata', withMetadata('{"a":["\\ud83d"]}'), METADATA_SURROGATE],
  ...[
    'method',
    'channel_code',
    'currency',
    'external_reference',
    'description',
    'customer.name',
    'customer.phone',
  ].map((field) => {
    const [outer = '', inner] = field.split('.')
    const { [outer]: _, ...rest } = aPaymentBody()
    const value = inner === undefined ? '"a\\ud800"' : `{"${inner}":"\\udfff"}`
    const body = `{"${outer}":${value},${JSON.stringify(rest).slice(1)}`
    return [
      `a lone surrogate in ${field}`,
      body,
      invalid(`${field}: must be well-formed Unicode`),
    ] as const
  }),
]

describe('POST /v1/payments refuses hostile bodies with 422 and writes nothing (spec 4.1, rule 1)', () => {
  it.each(HOSTILE)('%s', async (_, body, message) => {
    expect((await refused(body))['message']).toBe(message)
  })

  it('names every unknown and wrong field at once', async () => {
    expect(
      await refused('{"amount":"1","b":1,"a":2,"customer":{"x":1},"currency":5}'),
    ).toStrictEqual({
      message: invalid('b: unknown field'),
      code: 'validation',
      field_errors: {
        b: ['unknown field'],
        a: ['unknown field'],
        'customer.x': ['unknown field'],
        amount: ['must be a number'],
        currency: ['must be string'],
        method: ['unsupported method: ', METHODS],
      },
    })
  })

  it('accepts a body of exactly 64 KB, and a body that API Gateway passes as base64', async () => {
    const large = await taken(VALID + ' '.repeat(65_536 - VALID.length))
    const encoded = await taken(VALID, true)

    expect([large.status, encoded.status]).toStrictEqual([201, 201])
  })
})

/** Changed fields of a valid body, the field blamed, and the exact message (spec 4.1, 7; design section 5). */
const SINGLE_FAULTS: readonly (readonly [
  Record<string, unknown>,
  field: string,
  message: string,
])[] = [
  [{ method: MISSING }, 'method', 'unsupported method: '],
  [{ method: null }, 'method', 'unsupported method: '],
  [{ method: 'constructor' }, 'method', 'unsupported method: constructor'],
  [{ method: `${'x'.repeat(63)}👍` }, 'method', `unsupported method: ${'x'.repeat(63)}\ufffd`],
  [{ channel_code: MISSING }, 'channel_code', 'channel_code required for method virtual_account'],
  [{ channel_code: '' }, 'channel_code', 'channel_code required for method virtual_account'],
  [
    { method: 'ewallet', channel_code: MISSING },
    'channel_code',
    'channel_code required for method ewallet',
  ],
  [
    { channel_code: 'NOBANK' },
    'channel_code',
    'unsupported channel_code for method virtual_account: NOBANK',
  ],
  [
    { channel_code: 'OVO' },
    'channel_code',
    'unsupported channel_code for method virtual_account: OVO',
  ],
  [
    { channel_code: 'toString' },
    'channel_code',
    'unsupported channel_code for method virtual_account: toString',
  ],
  [{ method: 'qris' }, 'channel_code', 'channel_code must be omitted for method qris'],
  ...['dana', 'DANA\n', 'A'.repeat(65)].map(
    (code) => [wallet(code), 'channel_code', CODE] as const,
  ),
  ...[
    ...BANKS,
    'QRIS',
    'CARDS',
    'ALFAMART',
    'INDOMARET',
    'BCA_VIRTUAL_ACCOUNT',
    'NOBANK_VIRTUAL_ACCOUNT',
  ].map(
    (code) =>
      [
        wallet(code),
        'channel_code',
        `unsupported channel_code for method ewallet: ${code}`,
      ] as const,
  ),
  [{ amount: MISSING }, 'amount', 'notional_minor must be > 0'],
  [{ amount: 0 }, 'amount', 'notional_minor must be > 0'],
  [{ amount: 1_000_000_000_001 }, 'amount', 'notional_minor must be <= 1000000000000'],
  [{ currency: MISSING }, 'currency', 'unsupported currency: '],
  [{ currency: 'USD' }, 'currency', 'unsupported currency: USD'],
  [OVO, 'customer.phone', OVO_PHONE],
  ...[
    '',
    '6281234567890',
    '+14155550100',
    '+62812345',
    '+6281234567890123',
    '+6281234567890\n',
  ].map((phone) => [{ ...OVO, customer: { phone } }, 'customer.phone', OVO_PHONE] as const),
  [{ [REFERENCE]: characters(256) }, REFERENCE, `${REFERENCE} must have at most 255 characters`],
  [
    { description: characters(1_001) },
    'description',
    'description must have at most 1000 characters',
  ],
  ...['name', 'email', 'phone'].map((field) => {
    const message = `customer.${field} must have at most 255 characters`
    return [{ customer: { [field]: characters(256) } }, `customer.${field}`, message] as const
  }),
  [{ metadata: '{}' }, 'metadata', 'metadata is not JSON-serialisable: must be an object'],
  [
    { metadata: { a: `${'é'.repeat(8_188)}x` } },
    'metadata',
    'metadata is not JSON-serialisable: larger than 16 KB',
  ],
  [{ expires_in_seconds: -1 }, 'expires_in_seconds', 'expires_in_seconds must be >= 0'],
  [
    { expires_in_seconds: 31_536_001 },
    'expires_in_seconds',
    'expires_in_seconds must be <= 31536000',
  ],
]

describe('POST /v1/payments refuses invalid values (spec 4.1, 7; design section 5)', () => {
  it.each(SINGLE_FAULTS)('%j: %s', async (fields, field, message) => {
    const body = await refused(aPaymentBody(fields))

    const reasons = field === 'method' ? [message, METHODS] : [message]
    expect(body).toStrictEqual({ message, code: 'validation', field_errors: { [field]: reasons } })
  })

  it.each([
    'ASTRAPAY',
    'QRIS_WALLET',
    'CARDS2',
    'BCA_KLIKPAY',
    'VIRTUAL_ACCOUNT',
    '9',
    '__PROTO__',
  ])(
    'takes the e-wallet code %s, of no other kind of channel, at the fallback tariff',
    async (code) => {
      const { status, body } = await taken(aPaymentBody(wallet(code)))

      expect([status, body['xendit_fee_minor']]).toStrictEqual([201, 2_500])
    },
  )

  it('accepts the maximum of every length and amount', async () => {
    const customer = { name: characters(255), email: characters(255), phone: characters(255) }
    const texts = { customer, external_reference: characters(255), description: characters(1_000) }
    const rest = {
      metadata: { a: 'é'.repeat(8_188) },
      expires_in_seconds: 31_536_000,
      amount: 10 ** 12,
    }

    expect((await taken(aPaymentBody({ ...texts, ...rest }))).status).toBe(201)
  })

  it.each(['+628123456', '+628123456789012'])(
    'accepts the phone %s, least amount and expiry',
    async (phone) => {
      const least = { amount: 1, expires_in_seconds: 0 }

      expect((await taken(aPaymentBody({ ...OVO, customer: { phone }, ...least }))).status).toBe(
        201,
      )
    },
  )

  it('has every field in field_errors; the message is the first of method, channel, amount, currency and the rest', async () => {
    const merchant = anApi()
    const values = { method: 'card', channel_code: 'bca', amount: 0, currency: 'USD' }
    const others = { description: 'x'.repeat(1_001), metadata: 1, expires_in_seconds: -1 }
    const broken: Record<string, unknown> = { ...values, ...others }
    const right = { ...wallet('DANA'), amount: 1, currency: 'IDR', description: 'x', metadata: {} }

    const answers = []
    for (const repaired of [undefined, ...Object.entries(right)]) {
      if (repaired) broken[repaired[0]] = repaired[1]
      const { message, field_errors } = await refused(broken, merchant)
      answers.push([message, Object.keys(Object(field_errors))])
    }

    const rest = ['description', 'metadata', 'expires_in_seconds']
    expect(answers).toStrictEqual([
      ['unsupported method: card', ['method', 'amount', 'currency', ...rest]],
      [CODE, ['channel_code', 'amount', 'currency', ...rest]],
      ['notional_minor must be > 0', ['amount', 'currency', ...rest]],
      ['unsupported currency: USD', ['currency', ...rest]],
      ['description must have at most 1000 characters', rest],
      ['metadata is not JSON-serialisable: must be an object', ['metadata', 'expires_in_seconds']],
      ['expires_in_seconds must be >= 0', ['expires_in_seconds']],
    ])
  })
})
