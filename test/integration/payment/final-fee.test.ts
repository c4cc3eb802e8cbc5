import { describe, expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { finalFee } from '../../../shared/payment/fee/final-fee.ts'
import { processThatDies } from '../../support/dying-process.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { NOT_SETTLED, settledRow } from '../../support/fake-provider.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { paymentTest as it } from '../../support/payment-test.ts'
import { creditedPayment, findingAbout, paymentOf } from '../../support/synced-payment.ts'
import { testDeps } from '../../support/test-deps.ts'

const aCredited = async () => {
  const deps = testDeps()
  const client = await aStoredClient(deps)
  const rows = deps.provider.transactions
  return { deps, client, rows, paid: await creditedPayment(deps, client) }
}

describe('finalFee: a fee that was waited for long enough (design section 4, Sweep and settle)', () => {
  it.each([
    ['the provider shows no transaction', [], 'transaction_missing'],
    ['its transaction is not settled', [NOT_SETTLED], 'fee_assumed'],
    ['its transaction was reversed', [{ status: 'reversed' as const }], 'fee_assumed'],
    ['its transaction is about another amount', [{ amountMinor: minor(99_999) }], 'fee_assumed'],
    ['less than nothing was kept', [{ keptMinor: minor(-5) }], 'fee_assumed'],
  ])('is the estimate, with a finding, when %s', async (_, overrides, cause) => {
    const { deps, client, rows, paid } = await aCredited()
    rows.push(...overrides.map((fields) => settledRow(paid, deps.now(), fields)))

    const amounts = await finalFee(deps, paid.payment.paymentId)

    expect(amounts).toStrictEqual({ providerFeeMinor: 4_000, netMinor: 95_900, feeStatus: 'assumed' })
    expect(await findingAbout(deps, paid.payment.paymentId, cause)).toMatchObject({ clientId: client.clientId })
    expect(deps.published.map(({ kind }) => kind)).toStrictEqual(['suspense.finding'])
    await expectBalanced(deps, client.clientId)
  })

  it('never leaves an assumed fee without its finding, wherever the process dies', async () => {
    for (let call = 1, reached = true; reached; call++) {
      const { deps, client, paid } = await aCredited()
      const dying = processThatDies(deps, { call, when: 'after' })
      await finalFee(dying.deps, paid.payment.paymentId).catch(() => undefined)
      reached = dying.died()

      const { feeStatus } = await paymentOf(deps, paid)
      const noted = await findingAbout(deps, paid.payment.paymentId, 'transaction_missing')
      expect({ call, noted: noted !== undefined }).toStrictEqual({ call, noted: feeStatus === 'assumed' })
      await expectBalanced(deps, client.clientId)
    }
  })
})

describe('the fee at the moment of success', () => {
  it('is not taken from a transaction about another amount', async ({ deps, client }) => {
    const rows = deps.provider.transactions
    deps.provider.script('getPayment', async (id) => {
      const value = deps.provider.payments.get(id)
      if (!value) return { kind: 'not_found' }
      rows.push(settledRow(value, deps.now(), { amountMinor: minor(90_000) }))
      return { kind: 'found', value }
    })

    const paid = await creditedPayment(deps, client)

    expect(paid.payment).toMatchObject({ status: 'succeeded', feeStatus: 'estimated', providerFeeMinor: 4_000 })
  })
})
