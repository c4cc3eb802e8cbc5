import { describe, expect, it } from 'vitest'
import { aCore, aRequestBody } from '../../support/provider-simulator-harness.ts'

/** Splits an EMVCo string into tag and value; throws when a length does not fit. */
const parseTlv = (text: string) => {
  const fields: [string, string][] = []
  for (let position = 0; position < text.length; ) {
    const tag = text.slice(position, position + 2)
    const length = text.slice(position + 2, position + 4)
    const value = text.slice(position + 4, position + 4 + Number(length))
    if (!/^\d{4}$/.test(tag + length) || value.length !== Number(length)) throw new Error(`bad TLV at ${position}`)
    fields.push([tag, value])
    position += 4 + value.length
  }
  return new Map(fields)
}

/** CRC-16/CCITT-FALSE by polynomial division of the whole bit string: another method than the simulator's own. */
const crcByDivision = (text: string) => {
  const bits = [...Buffer.from(text)].flatMap((byte) => byte.toString(2).padStart(8, '0').split('').map(Number))
  const message = [...bits, ...Array<number>(16).fill(0)]
  for (let i = 0; i < 16; i++) message[i] = 1 - (message[i] ?? 0)
  const polynomial = '10001000000100001'.split('').map(Number)
  for (let i = 0; i < bits.length; i++) {
    if (message[i] !== 1) continue
    polynomial.forEach((bit, offset) => {
      message[i + offset] = (message[i + offset] ?? 0) ^ bit
    })
  }
  return Number.parseInt(message.slice(-16).join(''), 2).toString(16).toUpperCase().padStart(4, '0')
}

const luhnValid = (digits: string) => {
  const sum = digits
    .split('')
    .toReversed()
    .reduce((total, digit, index) => {
      const weighted = Number(digit) * (index % 2 === 1 ? 2 : 1)
      return total + (weighted > 9 ? weighted - 9 : weighted)
    }, 0)
  return sum % 10 === 0
}

const withNumber = (number: string) =>
  aRequestBody('BNI_VIRTUAL_ACCOUNT', {
    channel_properties: { display_name: 'Toko Maju', virtual_account_number: number },
  })

describe('the destinations of the provider simulator (spec 2.1.2)', () => {
  it.each([
    ['BCA_VIRTUAL_ACCOUNT', 15],
    ['BNI_VIRTUAL_ACCOUNT', 16],
    ['BRI_VIRTUAL_ACCOUNT', 18],
    ['MANDIRI_VIRTUAL_ACCOUNT', 16],
    ['PERMATA_VIRTUAL_ACCOUNT', 16],
  ])('gives %s a number of %i digits', (channelCode, length) => {
    const { core } = aCore()

    const request = core.createPaymentRequest(aRequestBody(channelCode))

    expect(request.actions).toStrictEqual([
      {
        type: 'PRESENT_TO_CUSTOMER',
        descriptor: 'VIRTUAL_ACCOUNT_NUMBER',
        value: expect.stringMatching(new RegExp(`^\\d{${length}}$`)),
      },
    ])
  })

  it('never gives two requests the same virtual account number', () => {
    const { core } = aCore()

    const numbers = Array.from({ length: 2000 }, () => core.createPaymentRequest(aRequestBody()).actions[0]?.value)

    expect(new Set(numbers).size).toBe(2000)
  })

  it('takes a virtual account number of the merchant within the range and refuses one outside it', () => {
    const { core } = aCore()

    const request = core.createPaymentRequest(withNumber('8808000011112222'))

    expect(request.actions[0]?.value).toBe('8808000011112222')
    expect(() => core.createPaymentRequest(withNumber('9908000011112222'))).toThrow('8808 and 16 digits')
  })

  it('gives QRIS an EMVCo string of valid TLV with amount, country, currency, merchant and checksum', () => {
    const { core } = aCore()

    const request = core.createPaymentRequest(aRequestBody('QRIS', { request_amount: 150_000 }))

    const action = request.actions[0]
    expect(action).toMatchObject({ type: 'PRESENT_TO_CUSTOMER', descriptor: 'QR_STRING' })
    const text = action?.value ?? ''
    const fields = parseTlv(text)
    expect([...fields.keys()].slice(0, 2)).toStrictEqual(['00', '01'])
    expect([...fields.keys()].at(-1)).toBe('63')
    expect(Object.fromEntries(fields)).toMatchObject({
      '00': '01',
      '01': '12',
      '53': '360',
      '54': '150000',
      '58': 'ID',
    })
    const merchant = parseTlv(fields.get('26') ?? '')
    expect(merchant.get('01')).toMatch(/^9360\d{15}$/)
    expect(luhnValid(merchant.get('01') ?? '')).toBe(true)
    expect(parseTlv(fields.get('51') ?? '').get('00')).toBe('ID.CO.QRIS.WWW')
    expect(fields.get('59')).toMatch(/^.{1,25}$/)
    expect(fields.get('60')).toMatch(/^.{1,15}$/)
    expect(fields.get('63')).toBe(crcByDivision(text.slice(0, -4)))
  })

  it('checks the independent checksum against the published test value', () => {
    expect(crcByDivision('123456789')).toBe('29B1')
  })

  it('gives each QRIS request its own string', () => {
    const { core } = aCore()

    const first = core.createPaymentRequest(aRequestBody('QRIS'))
    const second = core.createPaymentRequest(aRequestBody('QRIS'))

    expect(first.actions[0]?.value).not.toBe(second.actions[0]?.value)
  })

  it.each(['DANA', 'LINKAJA', 'SHOPEEPAY', 'GOPAY', 'ASTRAPAY', 'JENIUSPAY'])(
    'sends the payer of %s to a checkout page of its own',
    (channelCode) => {
      const { core } = aCore()

      const request = core.createPaymentRequest(aRequestBody(channelCode))

      expect(request.status).toBe('REQUIRES_ACTION')
      expect(request.actions).toStrictEqual([
        {
          type: 'REDIRECT_CUSTOMER',
          descriptor: 'WEB_URL',
          value: `http://127.0.0.1:3002/checkout/${request.payment_request_id}`,
        },
      ])
    },
  )

  it('shows nothing for OVO, which calls the phone', () => {
    const { core } = aCore()

    const request = core.createPaymentRequest(aRequestBody('OVO'))

    expect(request).toMatchObject({ status: 'PENDING', actions: [] })
  })
})
