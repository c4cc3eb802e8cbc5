import { describe, expect, it } from 'vitest'
import { BANKS } from '../../contract/xendit/provider-facts.ts'
import { anApi, aPaymentBody } from '../../support/api-event.ts'
import { METHODS, refusedCreate, sendCreate } from './refused-create.ts'

const MISSING = undefined
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

/**
 * Changed fields of a valid body, the field that is refused, and the exact message (spec 4.1, 7;
 * design section 5).
 */
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
  ...['NOBANK', 'OVO', 'toString'].map((code) => {
    const message = `unsupported channel_code for method virtual_account: ${code}`
    return [{ channel_code: code }, 'channel_code', message] as const
  }),
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
    // Pay later and direct debit (the provider's front-end SDK, March 2026).
    'KREDIVO',
    'AKULAKU',
    'INDODANA',
    'BRI_DIRECT_DEBIT',
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
  [{ currency: 'idr' }, 'currency', 'unsupported currency: idr'],
  [OVO, 'customer.phone', OVO_PHONE],
  ...[
    '',
    '6281234567890',
    '+14155550100',
    '+62812345',
    // The provider refuses it for ever (xendit-java #93).
    '+62081298498259',
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
  it.each(SINGLE_FAULTS)('refuses the fields %j: %s', async (fields, field, message) => {
    const body = await refusedCreate(aPaymentBody(fields))

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
    'accepts the e-wallet code %s, which no other kind of channel has, at the fallback tariff',
    async (code) => {
      const { status, body } = await sendCreate(aPaymentBody(wallet(code)))

      expect([status, body['xendit_fee_minor']]).toStrictEqual([201, 2_500])
    },
  )

  it('accepts the maximum of every length and amount', async () => {
    const customer = { name: characters(255), email: characters(255), phone: characters(255) }
    const texts = { customer, external_reference: characters(255), description: characters(1_000) }
    const limits = {
      metadata: { a: 'é'.repeat(8_188) },
      expires_in_seconds: 31_536_000,
      amount: 10 ** 12,
    }

    expect((await sendCreate(aPaymentBody({ ...texts, ...limits }))).status).toBe(201)
  })

  it.each(['+628123456', '+628123456789012'])(
    'accepts the phone %s with the least amount and expiry',
    async (phone) => {
      const leastValues = { amount: 1, expires_in_seconds: 0 }

      expect(
        (await sendCreate(aPaymentBody({ ...OVO, customer: { phone }, ...leastValues }))).status,
      ).toBe(201)
    },
  )

  it('has every wrong field in field_errors, and the message of the first of method, channel, amount, currency and other fields', async () => {
    const merchant = anApi()
    const values = { method: 'card', channel_code: 'bca', amount: 0, currency: 'USD' }
    const otherValues = { description: 'x'.repeat(1_001), metadata: 1, expires_in_seconds: -1 }
    const broken: Record<string, unknown> = { ...values, ...otherValues }
    const rightValues = {
      ...wallet('DANA'),
      amount: 1,
      currency: 'IDR',
      description: 'x',
      metadata: {},
    }

    const answers = []
    for (const repaired of [undefined, ...Object.entries(rightValues)]) {
      if (repaired) broken[repaired[0]] = repaired[1]
      const { message, field_errors } = await refusedCreate(broken, merchant)
      answers.push([message, Object.keys(Object(field_errors))])
    }

    const otherFields = ['description', 'metadata', 'expires_in_seconds']
    expect(answers).toStrictEqual([
      ['unsupported method: card', ['method', 'amount', 'currency', ...otherFields]],
      [CODE, ['channel_code', 'amount', 'currency', ...otherFields]],
      ['notional_minor must be > 0', ['amount', 'currency', ...otherFields]],
      ['unsupported currency: USD', ['currency', ...otherFields]],
      ['description must have at most 1000 characters', otherFields],
      ['metadata is not JSON-serialisable: must be an object', ['metadata', 'expires_in_seconds']],
      ['expires_in_seconds must be >= 0', ['expires_in_seconds']],
    ])
  })
})
