import { describe, expect } from 'vitest'
import { requireChannel } from '../../../infra/local/provider-simulator/channels.ts'
import { CHANNEL_FACTS } from '../../contract/xendit/provider-facts.ts'
import { aRequestBody, FINAL, simulatorIt as it } from '../../support/provider-simulator-harness.ts'

describe('a request of the provider simulator', () => {
  it('is a new request for a used reference, and both are found by how it begins, oldest first', ({
    sim: { core },
  }) => {
    const bodies = [aRequestBody(), aRequestBody('QRIS', { reference_id: 'a0b1f' }), aRequestBody()]
    const [first, , second] = bodies.map(core.createPaymentRequest)

    expect(core.findPaymentRequests('0b1f')).toStrictEqual([first, second])
  })

  it('starts a push with REQUIRES_ACTION and no action, and shows it PENDING at once', ({
    sim: { core },
  }) => {
    const created = core.createPaymentRequest(aRequestBody('OVO'))

    expect(created).toMatchObject({ status: 'REQUIRES_ACTION', actions: [] })
    expect(core.getPaymentRequest(created.payment_request_id)).toMatchObject({ status: 'PENDING' })
  })

  // The first number is from a public report (xendit-java #93).
  it.for([
    ['OVO', { account_mobile_number: '+62081298498259' }],
    ['OVO', { account_mobile_number: '+62211234567' }],
    ['OVO', { account_mobile_number: '081298498259' }],
    ['BNI_VIRTUAL_ACCOUNT', { display_name: '24/7' }],
    ['BNI_VIRTUAL_ACCOUNT', { display_name: 'Toko', expires_at: '2026-11-20T04:10:00Z' }],
    ['DANA', { success_return_url: 'shop.example' }],
  ] as const)('is refused of %s with %o', ([channel, channel_properties], { sim: { core } }) => {
    const ask = () => core.createPaymentRequest(aRequestBody(channel, { channel_properties }))

    expect(ask).toThrow(expect.objectContaining({ errorCode: 'API_VALIDATION_ERROR' }))
  })

  it.for(['GOPAY', 'DANA'])('of %s has a link into the app beside the page', (code, { sim }) => {
    const { actions } = sim.core.createPaymentRequest(aRequestBody(code))

    expect(actions.map(({ descriptor }) => descriptor)).toStrictEqual(['DEEPLINK_URL', 'WEB_URL'])
  })

  it('fails at once with the fault failed', ({ sim: { core } }) => {
    core.orderFault({ target: 'create', fault: 'failed', value: 'INSUFFICIENT_BALANCE' })

    expect(core.createPaymentRequest(aRequestBody('DANA'))).toMatchObject({
      status: 'FAILED',
      failure_code: 'INSUFFICIENT_BALANCE',
    })
  })

  it('is unpaid for everyone until the provider finds its money at the settlement', async ({
    sim,
  }) => {
    sim.order('payment', 'found_at_settlement')
    const id = sim.create('BNI_VIRTUAL_ACCOUNT')
    sim.core.simulatePayment(id)
    const shownBefore = [sim.statusOf(id), sim.rows().length, sim.callbacks.length]

    await sim.advance(300)

    expect(shownBefore).toStrictEqual(['REQUIRES_ACTION', 0, 0])
    expect(sim.rows()).toMatchObject([{ amount: 150_000, settlement_status: 'SETTLED' }])
    expect(sim.callbacks).toMatchObject([{ event: 'payment.capture' }])
    expect(sim.statusOf(id)).toBe('SUCCEEDED')
  })

  it.for(CHANNEL_FACTS)(
    'has an amount that the provider takes for $providerCode',
    (channel, { sim: { core } }) => {
      const [least, most] = channel.amounts
      const ask = (request_amount: number) => () =>
        core.createPaymentRequest(aRequestBody(channel.providerCode, { request_amount }))
      const refusal = (errorCode: string) => expect.objectContaining({ status: 400, errorCode })

      expect(ask(least - 1)).toThrow(
        refusal(least === 1 ? 'API_VALIDATION_ERROR' : 'INVALID_VALUE_ERROR'),
      )
      expect(ask(most + 1)).toThrow(refusal('INVALID_VALUE_ERROR'))
      expect([least, most].map((amount) => ask(amount)().request_amount)).toStrictEqual([
        least,
        most,
      ])
    },
  )

  it.for(CHANNEL_FACTS)(
    'has the name, the fee and the settlement that the provider documents for $providerCode',
    ({ method, providerCode, transactionCode, permille, flat, lifetimeSeconds, settles }) => {
      expect(requireChannel(providerCode)).toMatchObject({
        transactionCode,
        feeBps: Number(permille) * 10,
        feeFlat: Number(flat),
        settlement: settles === 'at once' ? { afterSeconds: 300 } : { businessDays: settles },
        // We send the time of a virtual account, because the provider documents no default.
        ...(method !== 'virtual_account' && { lifetimeSeconds }),
      })
    },
  )

  it.for([
    ...CHANNEL_FACTS.flatMap(({ providerCode, accounts }) =>
      accounts ? [[providerCode, accounts] as const] : [],
    ),
    // An EMVCo string that says the amount and ends with its checksum.
    ['QRIS', /^000201010212.*53033605406150000.*6304[0-9A-F]{4}$/],
  ] as const)(
    'of %s has its own destination (spec 2.1.2)',
    ([channel, form], { sim: { core } }) => {
      const made = Array.from({ length: 200 }, () =>
        core.createPaymentRequest(aRequestBody(channel)),
      )
      const destinations = made.map(({ actions }) => actions[0]?.value)

      expect(new Set(destinations).size).toBe(200)
      for (const destination of destinations) expect(destination).toMatch(form)
    },
  )

  it.for(FINAL)(
    'ends once: after %s it is not paid, cancelled, failed or expired, but by the fault after_expiry',
    async (status, { sim }) => {
      const id = sim.create()
      sim.end(id, status)
      const before = sim.core.getPaymentRequest(id)

      for (const nextEnd of FINAL) {
        const refusal = expect.objectContaining({
          status: 400,
          errorCode: 'INACTIVE_PAYMENT_REQUEST',
        })
        expect(() => sim.end(id, nextEnd)).toThrow(refusal)
      }
      expect(sim.core.getPaymentRequest(id)).toStrictEqual(before)
      sim.order('payment', 'after_expiry')
      sim.pay(id)

      const payment = sim.paymentOf(id)
      expect(sim.statusOf(id)).toBe(status)
      expect(payment).toMatchObject({
        status: 'SUCCEEDED',
        captures: [{ capture_amount: 150_000 }],
      })
      expect(sim.rows({ product_id: payment.payment_id })).toHaveLength(1)
      expect(sim.callbacks.at(-1)).toMatchObject({ event: 'payment.capture', data: payment })
    },
  )

  it.for([
    [undefined, 149_999],
    [149_000, 149_000],
  ])(
    'captures the amount of the fault %s, or else of the body: %i',
    ([wrong, captured], { sim }) => {
      if (wrong !== undefined) sim.order('payment', 'wrong_amount', wrong)
      const id = sim.create()

      sim.pay(id, { amount: 149_999 })

      expect(sim.paymentOf(id)).toMatchObject({
        captures: [{ capture_amount: captured }],
        request_amount: 150_000,
      })
      expect(sim.rows()).toMatchObject([{ amount: captured }])
    },
  )
})
