import { appendFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect } from 'vitest'
import { openStateFile } from '../../../infra/local/provider-simulator/simulator-store.ts'
import { CHANNEL_FACTS } from '../../support/provider-facts.ts'
import {
  aCore,
  aRequestBody,
  aSimulator,
  FINAL,
  simulatorIt as it,
} from '../../support/provider-simulator-harness.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

describe('a request of the provider simulator', () => {
  it('is another one for a used reference, and both are found by it, oldest first', ({
    sim: { core },
  }) => {
    const bodies = [
      aRequestBody(),
      aRequestBody('QRIS', { reference_id: 'another' }),
      aRequestBody(),
    ]
    const [first, , second] = bodies.map(core.createPaymentRequest)

    expect(core.findPaymentRequests(first?.reference_id ?? '')).toStrictEqual([first, second])
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

  // When it expires, with its callback: the random histories.
  it.for([
    ['BNI_VIRTUAL_ACCOUNT', /^8808\d{12}$/],
    // An EMVCo string that says the amount and ends with its checksum.
    ['QRIS', /^000201010212.*53033605406150000.*6304[0-9A-F]{4}$/],
  ] as const)(
    'of %s has a destination of its own (spec 2.1.2)',
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
    'ends once: %s is not paid, cancelled, failed, expired, but after_expiry',
    async (status, { sim }) => {
      const id = sim.create()
      sim.end(id, status)
      const before = sim.core.getPaymentRequest(id)

      for (const other of FINAL) {
        const refusal = expect.objectContaining({
          status: 400,
          errorCode: 'INACTIVE_PAYMENT_REQUEST',
        })
        expect(() => sim.end(id, other)).toThrow(refusal)
      }
      expect(sim.core.getPaymentRequest(id)).toStrictEqual(before)
      sim.order('payment', 'after_expiry')
      sim.pay(id)
      await sim.advance(0)

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
  ] as const)(
    'captures the amount of the fault %s, else of the body: %i',
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

describe('the state of the provider simulator', () => {
  it('is JSON, from which another core continues expiries, settlements and callback retries', async ({
    sim,
  }) => {
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

    expect([settled, retriedEarly, restored.statusOf(open)]).toStrictEqual([
      'SETTLED',
      0,
      'EXPIRED',
    ])
    expect(restored.callbacks[0]?.headers['webhook-id']).toBe(
      sim.callbacks[0]?.headers['webhook-id'],
    )
    expect(restored.core.armedFaults()).toStrictEqual([
      { target: 'create', fault: 'slow', value: 5, times: 3 },
    ])
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

    expect(
      (await again.call('GET', '/_simulator/payment_requests?reference_id=')).body,
    ).toHaveLength(2)
    expect(readFileSync(stateFile, 'utf8').split('\n').length).toBeLessThanOrEqual(grown)
    writeFileSync(stateFile, '[]\nnot json\n')
    expect(() => openStateFile(stateFile)).toThrow(`${stateFile}:2 is invalid`)
  })
})

const WEEK = 7 * 86_400

describe('the transactions of the provider simulator', () => {
  // 2026-11-20 is a Friday; 17:30 UTC of a Thursday is already Friday in Jakarta.
  it.for([
    [
      'BRI_VIRTUAL_ACCOUNT',
      10_000,
      '2026-11-20T04:10:00.000Z',
      '2026-11-20T04:15:00.000Z',
      4_000,
      440,
    ],
    [
      'BCA_VIRTUAL_ACCOUNT',
      10_000,
      '2026-11-20T04:10:00.000Z',
      '2026-11-23T04:10:00.000Z',
      4_000,
      440,
    ],
    [
      'BCA_VIRTUAL_ACCOUNT',
      10_000,
      '2026-11-19T17:30:00.000Z',
      '2026-11-22T17:30:00.000Z',
      4_000,
      440,
    ],
    [
      'SHOPEEPAY',
      10_000_000,
      '2026-11-20T04:10:00.000Z',
      '2026-11-24T04:10:00.000Z',
      200_000,
      22_000,
    ],
    ['QRIS', 10_142, '2026-11-21T04:10:00.000Z', '2026-11-24T04:10:00.000Z', 70, 7],
  ] as const)(
    'of %s over %i paid at %s settle at %s, then with the fee %i and %i tax, rounded down',
    async ([channel, amount, paidAt, settledAt, fee, tax]) => {
      const { pay, create, advance, rows } = aCore({ start: paidAt })
      pay(create(channel, { request_amount: amount }))

      await advance((Date.parse(settledAt) - Date.parse(paidAt)) / 1000 - 1)
      const before = rows()
      await advance(1)

      expect(before).toMatchObject([
        { settlement_status: 'PENDING', fee: { xendit_fee: 0, status: 'PENDING' } },
      ])
      const known = { xendit_fee: fee, value_added_tax: tax, status: 'COMPLETED' }
      const settled = {
        settlement_status: 'SETTLED',
        updated: settledAt,
        fee: known,
        net_amount: amount - fee - tax,
      }
      expect(rows()).toMatchObject([settled])
    },
  )

  // How they are filtered: `sync-reads.test.ts`, and the random histories.
  it('come newest first, each once, 50 at most at a time', ({ sim: { core, create, pay } }) => {
    const list = (query: Record<string, string> = {}) =>
      core.listTransactions(new URLSearchParams(query))
    const newestFirst = Array.from({ length: 62 }, () => pay(create('QRIS'))).toReversed()

    const first = list()
    const second = list({ after_id: first.data.at(-1)?.id ?? '', limit: '1000' })
    const third = list({ after_id: second.data.at(-1)?.id ?? '' })

    const seen = [first, second, third].flatMap(({ data }) => data.map(({ product_id: id }) => id))
    expect(seen).toStrictEqual(newestFirst)
    expect([first, second, third].map(({ has_more: more }) => more)).toStrictEqual([
      true,
      true,
      false,
    ])
  })
})

describe('the transaction faults of the provider simulator', () => {
  const SETTLED = { amount: 150_000, net_amount: 150_000 - 3052, settlement_status: 'SETTLED' }
  const NO_FEE = { xendit_fee: 0, value_added_tax: 0, status: 'NOT_APPLICABLE' }
  const AT_ONCE = {
    settlement_status: 'SETTLED',
    fee: { status: 'COMPLETED' },
    updated: '2026-11-20T04:10:00.000Z',
  }

  it.for<[string, number | undefined, object[]]>([
    ['missing', undefined, []],
    ['duplicate', undefined, [SETTLED, SETTLED]],
    ['wrong_amount', 1000, [{ ...SETTLED, amount: 1000, net_amount: 1000 - 3052 }]],
    ['fee_invoiced', undefined, [{ ...SETTLED, net_amount: 150_000, fee: NO_FEE }]],
    ['fee', 1998, [{ ...AT_ONCE, net_amount: 150_000 - 1998 }]],
    ['settle_now', undefined, [{ ...SETTLED, ...AT_ONCE }]],
  ])(
    '%s %s: the next payment, and no other, has in its time the rows %j',
    async ([fault, value, rows], { sim }) => {
      sim.order('transactions', fault, value)
      const [first, second] = [sim.pay(), sim.pay()]

      await sim.advance(WEEK)

      expect(sim.rows({ product_id: first })).toMatchObject(rows)
      expect(sim.rows({ product_id: second })).toMatchObject([
        { ...SETTLED, fee: { status: 'COMPLETED' } },
      ])
      expect(sim.core.getPayment(first).captures).toMatchObject([{ capture_amount: 150_000 }])
    },
  )

  it('fee_late: the fee is known after that many seconds', async ({ sim }) => {
    sim.order('transactions', 'fee_late', 40)
    sim.order('transactions', 'fee', 777)
    sim.pay()

    await sim.advance(39)
    const early = sim.rows()
    await sim.advance(1)

    expect(early).toMatchObject([{ fee: { status: 'PENDING' }, net_amount: 150_000 }])
    expect(sim.rows()).toMatchObject([
      { net_amount: 150_000 - 777, updated: '2026-11-20T04:10:40.000Z' },
    ])
  })
})

describe('reversals at the provider simulator (design section 10)', () => {
  const WON = { kind: 'chargeback_reversal' }

  it.for([
    ['voided', 'VOIDED'],
    ['reversed', 'REVERSED'],
  ] as const)(
    '%s: turns the payment’s own row, which never settles, unannounced',
    async ([kind, status], { sim }) => {
      const id = sim.create()
      sim.pay(id)
      await sim.advance(1)
      const before = sim.callbacks.length

      const row = sim.core.reversePayment(id, { kind })
      await sim.advance(WEEK)

      expect(row).toMatchObject({
        type: 'PAYMENT',
        status,
        settlement_status: null,
        amount: 150_000,
      })
      expect(sim.rows()).toStrictEqual([row])
      expect(sim.callbacks).toHaveLength(before)
      expect(() => sim.core.reversePayment(id, { kind })).toThrow(
        expect.objectContaining({ status: 400 }),
      )
    },
  )

  it('has a row and a callback for each refund, chargeback and won dispute; refuses invalid ones', async ({
    sim,
  }) => {
    const id = sim.create()
    const paymentId = sim.pay(id)
    for (const order of [{}, { kind: 'voided', amount: 1 }, { kind: 'refund', amount: 0.5 }, WON]) {
      expect(() => sim.core.reversePayment(id, order)).toThrow(
        expect.objectContaining({ status: 400 }),
      )
    }

    const rows = [
      { kind: 'refund', amount: 20_000 },
      { kind: 'chargeback', amount: 90_000, fee: 25_000 },
      WON,
    ].map((order) => sim.core.reversePayment(id, order))
    await sim.advance(1)

    const named = { status: 'SUCCESS', product_id: paymentId }
    expect(rows).toMatchObject([
      { ...named, type: 'REFUND', amount: 20_000, cashflow: 'MONEY_OUT' },
      // It includes the fee that it shows; the row of a won dispute does not.
      { ...named, type: 'CHARGEBACK', amount: 115_000, cashflow: 'MONEY_OUT' },
      { ...named, type: 'CHARGEBACK_REVERSAL', amount: 90_000, cashflow: 'MONEY_IN' },
    ])
    const events = 'refund.succeeded dispute.action_required dispute.won'
    expect(sim.callbacks.slice(-3).map(({ event }) => event)).toStrictEqual(events.split(' '))
  })
})
