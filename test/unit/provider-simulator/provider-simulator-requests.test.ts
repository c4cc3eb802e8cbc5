import { describe, expect } from 'vitest'
import { CHANNEL_FACTS } from '../../support/provider-facts.ts'
import { aRequestBody, simulatorIt as it } from '../../support/provider-simulator-harness.ts'

const HOUR = 3600

describe('POST /v3/payment_requests of the provider simulator', () => {
  it('makes a second request for a reference it has seen', ({ sim: { core } }) => {
    const [first, second] = [aRequestBody(), aRequestBody()].map(core.createPaymentRequest)

    expect(core.findPaymentRequests(first?.reference_id ?? '')).toStrictEqual([first, second])
  })

  const OF_CHANNEL = [
    ['BNI_VIRTUAL_ACCOUNT', {}, 'display_name'],
    ['BNI_VIRTUAL_ACCOUNT', { display_name: 'A', expires_at: '2026-11-20T04:10:00.000Z' }, 'future'],
    ['OVO', { account_mobile_number: '081234567890' }, 'account_mobile_number'],
    ['DANA', {}, 'success_return_url'],
    ['QRIS', { display_name: 'Toko Maju' }, 'display_name'],
  ] as const

  it.for<[string, Record<string, unknown>, string]>([
    ['the plain bank code', { channel_code: 'BCA' }, "not supported for 'BCA' channel code with country 'ID'"],
    ['another currency', { currency: 'USD' }, 'currency'],
    ['another type', { type: 'REUSABLE_PAYMENT_CODE' }, 'type'],
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

describe('the amounts of a channel', () => {
  it.for(CHANNEL_FACTS)(
    'of $providerCode are those of the provider',
    ({ providerCode, amounts }, { sim: { core } }) => {
      const [least, most] = amounts
      const ask = (request_amount: number) => () =>
        core.createPaymentRequest(aRequestBody(providerCode, { request_amount }))
      const refusal = expect.objectContaining({
        status: 400,
        errorCode: least === 1 ? 'API_VALIDATION_ERROR' : 'INVALID_VALUE_ERROR',
      })

      expect(ask(least - 1)).toThrow(refusal)
      expect(ask(most + 1)).toThrow(expect.objectContaining({ status: 400, errorCode: 'INVALID_VALUE_ERROR' }))
      expect([least, most].map((amount) => ask(amount)().request_amount)).toStrictEqual([least, most])
    },
  )
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
})

describe('the destinations of the provider simulator (spec 2.1.2)', () => {
  it.for(['BNI_VIRTUAL_ACCOUNT', 'QRIS'])('never gives two requests of %s the same destination', (channel, { sim }) => {
    const request = () => sim.core.createPaymentRequest(aRequestBody(channel))

    const destinations = Array.from({ length: 200 }, () => request().actions[0]?.value)

    expect(new Set(destinations).size).toBe(200)
  })

  it('gives QRIS an EMVCo string that says the amount and ends with its checksum', ({ sim }) => {
    const { actions } = sim.core.createPaymentRequest(aRequestBody('QRIS'))

    expect(actions[0]?.value).toMatch(/^000201010212.*53033605406150000.*6304[0-9A-F]{4}$/)
  })
})
