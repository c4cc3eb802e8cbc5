import { describe, expect } from 'vitest'
import { aRequestBody, simulatorIt as it } from '../../support/provider-simulator-harness.ts'

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
  it.for([
    ['BCA_VIRTUAL_ACCOUNT', 15],
    ['BNI_VIRTUAL_ACCOUNT', 16],
    ['BRI_VIRTUAL_ACCOUNT', 18],
    ['MANDIRI_VIRTUAL_ACCOUNT', 16],
    ['PERMATA_VIRTUAL_ACCOUNT', 16],
  ] as const)('gives %s a number of %i digits', ([channel, length], { sim: { core } }) => {
    const value = expect.stringMatching(new RegExp(`^\\d{${length}}$`))

    expect(core.createPaymentRequest(aRequestBody(channel)).actions).toStrictEqual([
      { type: 'PRESENT_TO_CUSTOMER', descriptor: 'VIRTUAL_ACCOUNT_NUMBER', value },
    ])
  })

  it.for(['BNI_VIRTUAL_ACCOUNT', 'QRIS'])('never gives two requests of %s the same destination', (channel, { sim }) => {
    const request = () => sim.core.createPaymentRequest(aRequestBody(channel))

    const destinations = Array.from({ length: 2000 }, () => request().actions[0]?.value)

    expect(new Set(destinations).size).toBe(2000)
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

  it.for(['DANA', 'LINKAJA', 'SHOPEEPAY', 'GOPAY', 'ASTRAPAY', 'JENIUSPAY'])(
    'sends the payer of %s to a checkout page of its own',
    (channel, { sim: { core } }) => {
      const request = core.createPaymentRequest(aRequestBody(channel))

      const value = `http://127.0.0.1:3002/checkout/${request.payment_request_id}`
      expect(request.status).toBe('REQUIRES_ACTION')
      expect(request.actions).toStrictEqual([{ type: 'REDIRECT_CUSTOMER', descriptor: 'WEB_URL', value }])
    },
  )

  it('shows nothing for OVO, which calls the phone', ({ sim: { core } }) => {
    expect(core.createPaymentRequest(aRequestBody('OVO'))).toMatchObject({ status: 'PENDING', actions: [] })
  })
})
