import { describe, expect, it } from 'vitest'
import { paymentIdForKey } from '../../../shared/ids.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { anApi, aPaymentBody } from '../../support/api-event.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { BANKS } from '../../support/provider-facts.ts'

const KEY = 'key-1'

/** Sends a body under a key; the payment that the key would lead to must not exist afterwards. */
const refused = async (body: unknown, merchant = anApi()) => {
  const { deps, caller, ask } = await merchant
  const answer = await ask('createPayment', { body, headers: { 'Idempotency-Key': KEY } })
  const stored = await findStoredPayment(deps, paymentIdForKey(caller.clientId, KEY))
  return { answer, left: { stored, ledger: await ledgerView(deps, caller.clientId), calls: deps.provider.calls } }
}

const NOTHING = { stored: undefined, ledger: { pendingMinor: 0 }, calls: [] }

const MISSING = undefined
/** The second reason of an unsupported method: the message is the spec's. */
const METHODS = 'must be one of virtual_account, ewallet, qris'
const wallet = (code: string) => ({ method: 'ewallet', channel_code: code })
const OVO = wallet('OVO')
const CODE = 'channel_code must be 1 to 64 of A-Z, 0-9 and _'
const OVO_PHONE = 'customer.phone required for channel OVO (E.164, +62...)'
const characters = (count: number) => '👍'.repeat(count)

/** Changed fields of a valid body, the field blamed, and the exact message (spec 4.1, 7; design section 5). */
const SINGLE_FAULTS: readonly (readonly [Record<string, unknown>, field: string, message: string])[] = [
  [{ method: MISSING }, 'method', 'unsupported method: '],
  [{ method: '' }, 'method', 'unsupported method: '],
  [{ method: 'card' }, 'method', 'unsupported method: card'],
  [{ method: 'QRIS' }, 'method', 'unsupported method: QRIS'],
  [{ method: 'constructor' }, 'method', 'unsupported method: constructor'],
  [{ method: `${'x'.repeat(63)}👍` }, 'method', `unsupported method: ${'x'.repeat(63)}\ufffd`],
  [{ channel_code: MISSING }, 'channel_code', 'channel_code required for method virtual_account'],
  [{ channel_code: '' }, 'channel_code', 'channel_code required for method virtual_account'],
  [{ method: 'ewallet', channel_code: MISSING }, 'channel_code', 'channel_code required for method ewallet'],
  [wallet(''), 'channel_code', 'channel_code required for method ewallet'],
  [{ channel_code: 'NOBANK' }, 'channel_code', 'unsupported channel_code for method virtual_account: NOBANK'],
  [{ channel_code: 'bca' }, 'channel_code', 'unsupported channel_code for method virtual_account: bca'],
  [{ channel_code: 'OVO' }, 'channel_code', 'unsupported channel_code for method virtual_account: OVO'],
  [{ channel_code: 'toString' }, 'channel_code', 'unsupported channel_code for method virtual_account: toString'],
  [{ method: 'qris' }, 'channel_code', 'channel_code must be omitted for method qris'],
  [wallet('dana'), 'channel_code', CODE],
  [wallet('DANA\n'), 'channel_code', CODE],
  [wallet('A'.repeat(65)), 'channel_code', CODE],
  // Codes of another kind of channel.
  ...[...BANKS, 'QRIS', 'CARDS', 'ALFAMART', 'INDOMARET', 'BCA_VIRTUAL_ACCOUNT', 'NOBANK_VIRTUAL_ACCOUNT'].map(
    (code) => [wallet(code), 'channel_code', `unsupported channel_code for method ewallet: ${code}`] as const,
  ),
  [{ amount: MISSING }, 'amount', 'notional_minor must be > 0'],
  [{ amount: 0 }, 'amount', 'notional_minor must be > 0'],
  [{ amount: 1_000_000_000_001 }, 'amount', 'notional_minor must be <= 1000000000000'],
  [{ currency: MISSING }, 'currency', 'unsupported currency: '],
  [{ currency: 'USD' }, 'currency', 'unsupported currency: USD'],
  [{ currency: 'idr' }, 'currency', 'unsupported currency: idr'],
  [OVO, 'customer.phone', OVO_PHONE],
  [{ ...OVO, customer: {} }, 'customer.phone', OVO_PHONE],
  [{ ...OVO, customer: { phone: '' } }, 'customer.phone', OVO_PHONE],
  [{ ...OVO, customer: { phone: '081234567890' } }, 'customer.phone', OVO_PHONE],
  [{ ...OVO, customer: { phone: '6281234567890' } }, 'customer.phone', OVO_PHONE],
  [{ ...OVO, customer: { phone: '+14155550100' } }, 'customer.phone', OVO_PHONE],
  [{ ...OVO, customer: { phone: '+62 812 3456 7890' } }, 'customer.phone', OVO_PHONE],
  [{ ...OVO, customer: { phone: '+62812345' } }, 'customer.phone', OVO_PHONE],
  [{ ...OVO, customer: { phone: '+6281234567890123' } }, 'customer.phone', OVO_PHONE],
  [{ ...OVO, customer: { phone: '+6281234567890\n' } }, 'customer.phone', OVO_PHONE],
  [
    { external_reference: characters(256) },
    'external_reference',
    'external_reference must have at most 255 characters',
  ],
  [{ description: characters(1_001) }, 'description', 'description must have at most 1000 characters'],
  [{ customer: { name: characters(256) } }, 'customer.name', 'customer.name must have at most 255 characters'],
  [{ customer: { email: characters(256) } }, 'customer.email', 'customer.email must have at most 255 characters'],
  [{ customer: { phone: characters(256) } }, 'customer.phone', 'customer.phone must have at most 255 characters'],
  [{ metadata: [1] }, 'metadata', 'metadata is not JSON-serialisable: must be an object'],
  [{ metadata: 5 }, 'metadata', 'metadata is not JSON-serialisable: must be an object'],
  [{ metadata: '{}' }, 'metadata', 'metadata is not JSON-serialisable: must be an object'],
  [{ metadata: { a: 'x'.repeat(16_377) } }, 'metadata', 'metadata is not JSON-serialisable: larger than 16 KB'],
  [{ expires_in_seconds: -1 }, 'expires_in_seconds', 'expires_in_seconds must be >= 0'],
  [{ expires_in_seconds: 31_536_001 }, 'expires_in_seconds', 'expires_in_seconds must be <= 31536000'],
]

describe('POST /v1/payments refuses what the values mean (spec 4.1, 7; design section 5)', () => {
  it.each(SINGLE_FAULTS)('%j: %s', async (fields, field, message) => {
    const { answer, left } = await refused(aPaymentBody(fields))

    expect(answer.status).toBe(422)
    const reasons = field === 'method' ? [message, METHODS] : [message]
    expect(answer.body).toStrictEqual({ message, code: 'validation', field_errors: { [field]: reasons } })
    expect(left).toStrictEqual(NOTHING)
  })

  const taken = async (fields: Record<string, unknown>) =>
    (await anApi()).ask('createPayment', { body: aPaymentBody(fields) })

  it.each(['ASTRAPAY', 'QRIS_WALLET', 'CARDS2', 'BCA_KLIKPAY', 'VIRTUAL_ACCOUNT', '9', '__PROTO__'])(
    'takes the e-wallet code %s, which is no other kind of channel, at the fallback tariff',
    async (code) => {
      const { status, body } = await taken(wallet(code))

      expect([status, body['xendit_fee_minor']]).toStrictEqual([201, 2_500])
    },
  )

  it('takes every length that is just allowed', async () => {
    const customer = { name: characters(255), email: characters(255), phone: characters(255) }

    const { status } = await taken({
      customer,
      external_reference: characters(255),
      description: characters(1_000),
      metadata: { a: 'x'.repeat(16_376) },
      expires_in_seconds: 31_536_000,
    })

    expect(status).toBe(201)
  })

  it.each(['+628123456', '+628123456789012'])('takes %s as the phone of an OVO payment', async (phone) => {
    expect((await taken({ ...OVO, customer: { phone } })).status).toBe(201)
  })

  it('names every field in field_errors, and says the first in the order method, channel, amount, currency, the rest', async () => {
    const merchant = anApi()
    const broken: Record<string, unknown> = {
      method: 'card',
      channel_code: 'bca',
      amount: 0,
      currency: 'USD',
      description: 'x'.repeat(1_001),
      metadata: 1,
      expires_in_seconds: -1,
    }
    const repairs = [
      { method: 'ewallet' },
      { channel_code: 'DANA' },
      { amount: 1 },
      { currency: 'IDR' },
      { description: 'x' },
      { metadata: {} },
    ]

    const answers = []
    for (const repair of [{}, ...repairs]) {
      Object.assign(broken, repair)
      const { body } = (await refused(broken, merchant)).answer
      answers.push([body['message'], Object.keys(Object(body['field_errors']))])
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
