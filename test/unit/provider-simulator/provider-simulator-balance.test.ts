import { describe, expect } from 'vitest'
import { simulatorIt as it } from '../../support/provider-simulator-harness.ts'

const WEEK = 7 * 86_400

describe('settle_now at the provider simulator', () => {
  const AT_ONCE = { settlement_status: 'SETTLED', fee: { status: 'COMPLETED' }, updated: '2026-11-20T04:10:00.000Z' }

  it.for(['BNI_VIRTUAL_ACCOUNT', 'BCA_VIRTUAL_ACCOUNT', 'QRIS', 'DANA'])(
    'the next rows of %s settle at once with their fee final, and no others',
    (channel, { sim }) => {
      sim.order('transactions', 'settle_now', undefined, 2)

      const paid = [1, 2, 3].map(() => sim.pay(sim.create(channel)))

      const shown = paid.map((product_id) => sim.rows({ product_id })[0])
      expect(shown).toMatchObject([AT_ONCE, AT_ONCE, { settlement_status: 'PENDING', fee: { status: 'PENDING' } }])
    },
  )

  it('armed after the payment, it takes the row that would be shown next, and leaves a settled one', ({ sim }) => {
    sim.pay()
    sim.order('transactions', 'settle_now', undefined, 2)

    expect([sim.rows(), sim.rows()]).toMatchObject([[AT_ONCE], [AT_ONCE]])
    expect(sim.core.armedFaults()).toMatchObject([{ fault: 'settle_now', times: 1 }])
  })
})

describe('GET /balance at the provider simulator', () => {
  const balance = (sim: { core: { getBalance: (query: URLSearchParams) => unknown } }, account = 'CASH') =>
    sim.core.getBalance(new URLSearchParams({ account_type: account }))

  it('is what has settled and what moved since, by its rows', async ({ sim }) => {
    const id = sim.create('DANA')
    sim.pay(id)
    const before = balance(sim)
    await sim.advance(WEEK)
    const settled = balance(sim)
    sim.core.reversePayment(id, { kind: 'chargeback', amount: 50_000, fee: 25_000 })
    const disputed = balance(sim)
    sim.core.reversePayment(id, { kind: 'chargeback_reversal' })
    const won = balance(sim)
    sim.core.bookTransaction({ type: 'WITHDRAWAL', amount: 100_000, net_amount: 102_500 })

    expect([before, settled, disputed, won, balance(sim)]).toStrictEqual([
      { balance: 0 },
      { balance: 146_948 },
      { balance: 71_948 },
      { balance: 121_948 },
      { balance: 19_448 },
    ])
    expect(() => balance(sim, 'TAX')).toThrow(/account_type must be CASH/)
  })

  it('has nothing of a payment whose own row has turned', async ({ sim }) => {
    const id = sim.create('DANA')
    sim.pay(id)
    await sim.advance(WEEK)

    sim.core.reversePayment(id, { kind: 'reversed' })

    expect(balance(sim)).toStrictEqual({ balance: 0 })
  })
})
