import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { openStateFile } from '../../../infra/local/provider-simulator/simulator-store.ts'
import { CHANNEL_FACTS } from '../../support/provider-facts.ts'
import { aCore, aRequestBody, aSimulator, FINAL, simulatorIt as it } from '../../support/provider-simulator-harness.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

describe('a request of the provider simulator', () => {
  it('is another one for a used reference, and both are found by it, oldest first', ({ sim: { core } }) => {
    const bodies = [aRequestBody(), aRequestBody('QRIS', { reference_id: 'another' }), aRequestBody()]
    const [first, , second] = bodies.map(core.createPaymentRequest)

    expect(core.findPaymentRequests(first?.reference_id ?? '')).toStrictEqual([first, second])
  })

  it.for(CHANNEL_FACTS)('has an amount that the provider takes for $providerCode', (channel, { sim: { core } }) => {
    const [least, most] = channel.amounts
    const ask = (request_amount: number) => () =>
      core.createPaymentRequest(aRequestBody(channel.providerCode, { request_amount }))
    const refusal = (errorCode: string) => expect.objectContaining({ status: 400, errorCode })

    expect(ask(least - 1)).toThrow(refusal(least === 1 ? 'API_VALIDATION_ERROR' : 'INVALID_VALUE_ERROR'))
    expect(ask(most + 1)).toThrow(refusal('INVALID_VALUE_ERROR'))
    expect([least, most].map((amount) => ask(amount)().request_amount)).toStrictEqual([least, most])
  })

  // When it expires, with its callback: the random histories.
  it.for([
    ['BNI_VIRTUAL_ACCOUNT', /^8808\d{12}$/],
    // An EMVCo string that says the amount and ends with its checksum.
    ['QRIS', /^000201010212.*53033605406150000.*6304[0-9A-F]{4}$/],
  ] as const)('of %s has a destination of its own (spec 2.1.2)', ([channel, form], { sim: { core } }) => {
    const made = Array.from({ length: 200 }, () => core.createPaymentRequest(aRequestBody(channel)))
    const destinations = made.map(({ actions }) => actions[0]?.value)

    expect(new Set(destinations).size).toBe(200)
    for (const destination of destinations) expect(destination).toMatch(form)
  })

  it.for(FINAL)('ends once: %s is not paid, cancelled, failed, expired, but after_expiry', async (status, { sim }) => {
    const id = sim.create()
    sim.end(id, status)
    const before = sim.core.getPaymentRequest(id)

    for (const other of FINAL) {
      const refusal = expect.objectContaining({ status: 400, errorCode: 'INACTIVE_PAYMENT_REQUEST' })
      expect(() => sim.end(id, other)).toThrow(refusal)
    }
    expect(sim.core.getPaymentRequest(id)).toStrictEqual(before)
    sim.order('payment', 'after_expiry')
    sim.pay(id)
    await sim.advance(0)

    const payment = sim.paymentOf(id)
    expect(sim.statusOf(id)).toBe(status)
    expect(payment).toMatchObject({ status: 'SUCCEEDED', captures: [{ capture_amount: 150_000 }] })
    expect(sim.rows({ product_id: payment.payment_id })).toHaveLength(1)
    expect(sim.callbacks.at(-1)).toMatchObject({ event: 'payment.capture', data: payment })
  })

  it.for([
    [undefined, 149_999],
    [149_000, 149_000],
  ] as const)('captures the amount of the fault %s, else of the body: %i', ([wrong, captured], { sim }) => {
    if (wrong !== undefined) sim.order('payment', 'wrong_amount', wrong)
    const id = sim.create()

    sim.pay(id, { amount: 149_999 })

    expect(sim.paymentOf(id)).toMatchObject({ captures: [{ capture_amount: captured }], request_amount: 150_000 })
    expect(sim.rows()).toMatchObject([{ amount: captured }])
  })
})

describe('the state of the provider simulator', () => {
  it('is JSON, from which another core continues expiries, settlements and callback retries', async ({ sim }) => {
    sim.receiver.status = 500
    const open = sim.create('DANA')
    sim.pay(sim.create())
    sim.order('create', 'slow', 5, 3)
    await sim.advance(60)
    const snapshot = JSON.parse(JSON.stringify(sim.core.snapshot()))

    const restored = aCore({ restored: snapshot, start: '2026-11-20T04:11:00.000Z' })
    expect(restored.core.snapshot()).toStrictEqual(snapshot)
    await restored.advance(240)
    const settled = restored.rows()[0]?.settlement_status
    const retriedEarly = restored.callbacks.length
    await restored.advance(86_400)

    expect([settled, retriedEarly, restored.statusOf(open)]).toStrictEqual(['SETTLED', 0, 'EXPIRED'])
    expect(restored.callbacks[0]?.headers['webhook-id']).toBe(sim.callbacks[0]?.headers['webhook-id'])
    expect(restored.core.armedFaults()).toStrictEqual([{ target: 'create', fault: 'slow', value: 5, times: 3 }])
  })

  it('survives a torn last line in its file, which is compacted at the start, and no other unreadable line', async () => {
    const stateFile = join(tempDirectory(), 'simulator', 'state.jsonl')
    const createOnce = async () => {
      await using simulator = await aSimulator({ stateFile })
      await simulator.create('QRIS')
    }
    await createOnce()
    appendFileSync(stateFile, '[{"table":"requests","id":"pr-torn","rec')
    await createOnce()
    const grown = readFileSync(stateFile, 'utf8').split('\n').length

    await using again = await aSimulator({ stateFile })

    expect((await again.call('GET', '/_simulator/payment_requests?reference_id=')).body).toHaveLength(2)
    expect(readFileSync(stateFile, 'utf8').split('\n').length).toBeLessThanOrEqual(grown)
    writeFileSync(stateFile, '[]\nnot json\n')
    expect(() => openStateFile(stateFile)).toThrow(`${stateFile}:2 is invalid`)
  })
})
