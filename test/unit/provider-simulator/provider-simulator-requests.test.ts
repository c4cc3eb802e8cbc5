import { describe, expect } from 'vitest'
import { CHANNEL_FACTS } from '../../support/provider-facts.ts'
import { aRequestBody, simulatorIt as it } from '../../support/provider-simulator-harness.ts'

const HOUR = 3600

describe('POST /v3/payment_requests of the provider simulator', () => {
  it('answers the request as it was asked for', ({ sim: { core } }) => {
    const body = aRequestBody('BNI_VIRTUAL_ACCOUNT', {
      channel_properties: { display_name: 'Toko Maju', expires_at: '2026-11-21T04:10:00Z' },
      description: 'Order 7',
      metadata: { order: '7' },
    })

    const request = core.createPaymentRequest(body)

    // What else it has is held against the provider's documents in `provider-contract.test.ts`.
    expect(request).toMatchObject({ ...body, status: 'REQUIRES_ACTION', created: '2026-11-20T04:10:00.000Z' })
    expect(core.getPaymentRequest(request.payment_request_id)).toStrictEqual(request)
  })

  it('makes a second request for a reference it has seen', ({ sim: { core } }) => {
    const [first, second] = [aRequestBody(), aRequestBody()].map(core.createPaymentRequest)

    expect(core.findPaymentRequests(first?.reference_id ?? '')).toStrictEqual([first, second])
  })

  const OF_CHANNEL = [
    ['BNI_VIRTUAL_ACCOUNT', {}, 'display_name'],
    ['BNI_VIRTUAL_ACCOUNT', { customer_name: 'A' }, 'customer_name'],
    ['BNI_VIRTUAL_ACCOUNT', { display_name: 'A', expires_at: '2026-11-20T04:10:00.000Z' }, 'future'],
    ['BNI_VIRTUAL_ACCOUNT', { display_name: 'A', expires_at: 'soon' }, 'expires_at'],
    ['OVO', {}, 'account_mobile_number'],
    ['OVO', { account_mobile_number: '081234567890' }, 'account_mobile_number'],
    ['DANA', {}, 'success_return_url'],
    ['LINKAJA', {}, 'success_return_url'],
    ['SHOPEEPAY', {}, 'success_return_url'],
    ['GOPAY', { success_return_url: 'not a url' }, 'success_return_url'],
    ['QRIS', { display_name: 'Toko Maju' }, 'display_name'],
  ] as const

  it.for<[string, Record<string, unknown>, string]>([
    ['the plain bank code', { channel_code: 'BCA' }, "not supported for 'BCA' channel code with country 'ID'"],
    ['an unknown bank', { channel_code: 'MARS_VIRTUAL_ACCOUNT' }, 'not supported'],
    ['a missing channel', { channel_code: undefined }, 'channel_code'],
    ['a missing reference', { reference_id: undefined }, 'reference_id'],
    ['another currency', { currency: 'USD' }, 'currency'],
    ['another country', { country: 'PH' }, 'country'],
    ['another type', { type: 'REUSABLE_PAYMENT_CODE' }, 'type'],
    ['an amount in text', { request_amount: '150000' }, 'request_amount'],
    ['a fraction of a rupiah', { request_amount: 1.5 }, 'request_amount'],
    ['an amount of zero', { request_amount: 0 }, 'request_amount'],
    ['a customer reference with dashes', { customer: { reference_id: 'a-b' } }, 'alphanumeric'],
    ['metadata beyond 500 characters', { metadata: { note: 'x'.repeat(501) } }, 'metadata.note'],
    ...OF_CHANNEL.map(([channel, properties, message]): [string, Record<string, unknown>, string] => [
      `${channel} with channel properties ${JSON.stringify(properties)}`,
      { channel_code: channel, channel_properties: properties },
      message,
    ]),
  ])('refuses %s', ([, overrides, message], { sim: { core, create } }) => {
    const refusal = { status: 400, errorCode: 'API_VALIDATION_ERROR', message: expect.stringContaining(message) }

    expect(() => create('BNI_VIRTUAL_ACCOUNT', overrides)).toThrow(expect.objectContaining(refusal))
    expect(core.findPaymentRequests('')).toStrictEqual([])
  })

  it('takes a wallet it has no facts about, and amounts of any size', ({ sim: { core } }) => {
    const { actions } = core.createPaymentRequest(aRequestBody('FUTUREPAY', { request_amount: 1 }))

    expect(actions.map(({ descriptor }) => descriptor)).toStrictEqual(['WEB_URL'])
  })
})

describe('the expiry of a payment request', () => {
  it.for([
    ...CHANNEL_FACTS.filter(({ method }) => method !== 'virtual_account').map(
      ({ providerCode, lifetimeSeconds }) => [providerCode, lifetimeSeconds, undefined] as const,
    ),
    ['BCA_VIRTUAL_ACCOUNT', HOUR, '2026-11-20T05:10:00.000Z'],
    ['QRIS', HOUR, '2026-11-20T05:10:00.000Z'],
  ] as const)('comes for %s after %i seconds, with its callback', async ([channel, seconds, asked], { sim }) => {
    const { channel_properties: properties } = aRequestBody(channel)
    const id = sim.create(channel, { channel_properties: { ...properties, ...(asked && { expires_at: asked }) } })
    const open = sim.statusOf(id)

    await sim.advance(seconds - 0.001)
    const before = sim.statusOf(id)
    await sim.advance(0.001)

    expect([before, sim.statusOf(id)]).toStrictEqual([open, 'EXPIRED'])
    expect(sim.callbacks).toMatchObject([
      { event: 'payment_request.expiry', data: { payment_request_id: id, status: 'EXPIRED', request_amount: 150_000 } },
    ])
  })

  it('does not touch a request that was paid or cancelled before', async ({ sim }) => {
    const [paid, cancelled] = [sim.create('OVO'), sim.create('DANA')]
    sim.pay(paid)
    sim.end(cancelled, 'CANCELED')

    await sim.advance(HOUR)

    expect([sim.statusOf(paid), sim.statusOf(cancelled)]).toStrictEqual(['SUCCEEDED', 'CANCELED'])
    expect(sim.callbacks.map(({ event }) => event)).toStrictEqual(['payment.capture'])
  })
})

/** Splits an EMVCo string into tag and value; throws when a length does not fit. */
const parseTlv = (text = '') => {
  const fields = new Map<string, string>()
  for (let position = 0; position < text.length; ) {
    const [head = '', tag = '', length] = /^(\d\d)(\d\d)/.exec(text.slice(position)) ?? []
    const value = text.slice(position + 4, position + 4 + Number(length))
    if (head === '' || value.length !== Number(length)) throw new Error(`bad TLV at ${position}`)
    fields.set(tag, value)
    position += 4 + value.length
  }
  return fields
}

/** CRC-16/CCITT-FALSE as the remainder of one polynomial division of all bits: not the simulator's own method. */
const crcByDivision = (text: string) => {
  const bits = 8 * Buffer.byteLength(text)
  let rest = (BigInt(`0x${Buffer.from(text).toString('hex')}`) << 16n) ^ (0xffffn << BigInt(bits))
  for (let bit = bits - 1; bit >= 0; bit--) {
    if ((rest >> BigInt(bit + 16)) & 1n) rest ^= 0b1_0001_0000_0010_0001n << BigInt(bit)
  }
  return rest.toString(16).toUpperCase().padStart(4, '0')
}

const luhnValid = (digits: string) => {
  const weighted = digits
    .split('')
    .toReversed()
    .map((digit, index) => Number(digit) * (index % 2 === 1 ? 2 : 1))
  return weighted.reduce((sum, value) => sum + (value > 9 ? value - 9 : value), 0) % 10 === 0
}

describe('the destinations of the provider simulator (spec 2.1.2)', () => {
  it.for(['BNI_VIRTUAL_ACCOUNT', 'QRIS'])('never gives two requests of %s the same destination', (channel, { sim }) => {
    const request = () => sim.core.createPaymentRequest(aRequestBody(channel))

    const destinations = Array.from({ length: 2000 }, () => request().actions[0]?.value)

    expect(new Set(destinations).size).toBe(2000)
  })

  it.for([
    ['BCA', /^38165\d{10}$/],
    ['BNI', /^8808\d{12}$/],
    ['BRI', /^13282\d{13}$/],
    ['MANDIRI', /^88608\d{11}$/],
    ['PERMATA', /^7293\d{12}$/],
  ] as const)('gives %s a number as the bank has them', ([bank, number], { sim: { core } }) => {
    const { actions } = core.createPaymentRequest(aRequestBody(`${bank}_VIRTUAL_ACCOUNT`))

    expect(actions).toMatchObject([{ descriptor: 'VIRTUAL_ACCOUNT_NUMBER', value: expect.stringMatching(number) }])
  })

  it('takes a number of the merchant within the range and refuses one outside it', ({ sim: { core } }) => {
    const withNumber = (number: string) => {
      const properties = { display_name: 'Toko Maju', virtual_account_number: number }
      return core.createPaymentRequest(aRequestBody('BNI_VIRTUAL_ACCOUNT', { channel_properties: properties }))
    }

    expect(withNumber('8808000011112222').actions[0]?.value).toBe('8808000011112222')
    expect(() => withNumber('9908000011112222')).toThrow('8808 and 16 digits')
  })

  it('gives QRIS an EMVCo string of valid TLV with amount, country, currency, merchant and checksum', ({ sim }) => {
    const { actions } = sim.core.createPaymentRequest(aRequestBody('QRIS', { request_amount: 150_000 }))

    const text = actions[0]?.value ?? ''
    const fields = parseTlv(text)
    const account = parseTlv(fields.get('26')).get('01') ?? ''
    expect(actions).toMatchObject([{ type: 'PRESENT_TO_CUSTOMER', descriptor: 'QR_STRING' }])
    expect([...fields.keys()].slice(0, 2)).toStrictEqual(['00', '01'])
    expect([...fields.keys()].at(-1)).toBe('63')
    expect(Object.fromEntries(fields)).toMatchObject({
      '00': '01',
      '01': '12',
      '53': '360',
      '54': '150000',
      '58': 'ID',
    })
    expect(account).toMatch(/^9360\d{15}$/)
    expect(luhnValid(account)).toBe(true)
    expect(parseTlv(fields.get('51')).get('00')).toBe('ID.CO.QRIS.WWW')
    expect(fields.get('59')).toMatch(/^.{1,25}$/)
    expect(fields.get('60')).toMatch(/^.{1,15}$/)
    expect(fields.get('63')).toBe(crcByDivision(text.slice(0, -4)))
    // The published test value, for the checksum of this file itself.
    expect(crcByDivision('123456789')).toBe('29B1')
  })
})
