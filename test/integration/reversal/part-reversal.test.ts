import { describe, expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { noteProviderSettled } from '../../../shared/payment/fee/fee-store.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import type { MoneyBack } from '../../../shared/reversal/plan-reversal.ts'
import { reversePayment } from '../../../shared/reversal/reverse-payment.ts'
import { partOwedId } from '../../../shared/reversal/reversed-parts.ts'
import { markSettlementPaid } from '../../../shared/settlement/close-settlement.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { readWindow } from '../../../shared/settlement/window-store.ts'
import { resolveSuspense } from '../../../shared/suspense/resolve-suspense.ts'
import { toSuspenseDto } from '../../../shared/suspense/suspense-dto.ts'
import { findSuspense, listSuspense } from '../../../shared/suspense/suspense-store.ts'
import { disputed } from '../../support/dispute-builders.ts'
import { dies, everyDeath, processThatDies } from '../../support/dying-process.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { beforeFirst } from '../../support/intercept-table.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import {
  aDayLater,
  BY_OPERATOR,
  fail,
  recredit,
  settlementsOf,
  storeSucceeded,
  succeededPayment,
  sweptNow,
  withFloor,
} from '../../support/settlement-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { reversalTest as it } from './reversal-test.ts'

const wholeOf = ({ paymentId, notionalMinor }: Payment): MoneyBack => ({
  transactionId: `txn_${paymentId}`,
  kind: 'voided',
  amountMinor: notionalMinor,
})
const failAndRecredit = async (deps: TestDeps, settlement: Settlement) => {
  await fail(deps, settlement)
  await recredit(deps, settlement)
}

it('what came for a payment that was left out does not count as arrived for the rest', async ({ deps, settled }) => {
  const { client, first, settlement } = settled
  await noteProviderSettled(deps, first, deps.now())
  await reversePayment(deps, first, wholeOf(first))
  await failAndRecredit(deps, settlement)

  const { settlementId } = await sweptNow(deps, client)

  const paid = markSettlementPaid(deps, { settlementId, ...BY_OPERATOR, confirmUnfunded: false })
  await expect(paid).rejects.toMatchObject({ fieldErrors: { confirm_unfunded: expect.anything() } })
})

describe('a part that went back', () => {
  const partOf = ({ paymentId }: Payment): MoneyBack => ({
    transactionId: `part_${paymentId}`,
    kind: 'refund',
    amountMinor: minor(20_000),
  })
  const owedOf = ({ paymentId }: Payment) => partOwedId(`part_${paymentId}`)

  it('before the sweep marks the settlement that sweeps it, and its re-credited successor', async ({ deps, paid }) => {
    const { client, first } = paid
    await reversePayment(deps, first, partOf(first))
    aDayLater(deps)
    const settlement = await sweptNow(deps, client)

    const early = markSettlementPaid(deps, { ...settlement, ...BY_OPERATOR, confirmUnfunded: true })
    await expect(early).rejects.toMatchObject({ fieldErrors: { confirm_reversed: expect.anything() } })
    await failAndRecredit(deps, settlement)
    const again = await sweptNow(deps, client)

    expect(again).toMatchObject({ netMinor: 141_850, reversedCount: 1 })
    expect(await findSuspense(deps, owedOf(first))).toMatchObject({ amountMinor: 20_000 })
  })

  it('marks no settlement when all of its payment goes back before the sweep too', async ({ deps, paid }) => {
    await reversePayment(deps, paid.first, partOf(paid.first))
    await reversePayment(deps, paid.first, wholeOf(paid.first))
    aDayLater(deps)

    const settlement = await sweptNow(deps, paid.client)

    expect(settlement).toMatchObject({ netMinor: 45_950, paymentCount: 1 })
    expect(settlement.reversedCount).toBeUndefined()
  })

  it('is noted on the settlement that is recorded again at the same moment', async ({ deps, settled }) => {
    const { client, first, settlement } = settled
    await failAndRecredit(deps, settlement)
    const racing = beforeFirst(deps, 'transact', () => sweptNow(deps, client))

    await reversePayment(racing, first, partOf(first))

    const again = (await settlementsOf(deps, client)).find(({ replaces }) => replaces === settlement.settlementId)
    expect(again?.reversedCount).toBe(1)
  })

  it('is told when it was recovered before all of the payment went back', async ({ deps, paid: { first } }) => {
    await reversePayment(deps, first, partOf(first))
    await resolveSuspense(deps, { suspenseId: owedOf(first), ...BY_OPERATOR, resolution: 'recovered' })

    await reversePayment(deps, first, wholeOf(first))

    const told = await findSuspense(deps, `${owedOf(first)}#left_out_though_closed`)
    expect(told).toMatchObject({ amountMinor: 20_000 })
  })

  it('is owed no longer once all of the payment goes back', async ({ deps, settled: { first } }) => {
    await reversePayment(deps, first, partOf(first))

    await reversePayment(deps, first, wholeOf(first))

    const part = await findSuspense(deps, owedOf(first))
    expect(part && toSuspenseDto(part)).toMatchObject({ status: 'resolved', resolution: 'left_out' })
    const whole = await findSuspense(deps, `${wholeOf(first).transactionId}#reversed_after_settlement`)
    expect(whole).toMatchObject({ amountMinor: 95_900, status: 'open' })
  })
})

/** More than fit the transaction of a re-credit. */
const MANY = 95

/** A failed settlement, of which all went back but one payment of 95,900 net. */
const manyGone = async () => {
  const deps = memoryDeps()
  const client = await withFloor(deps)
  const payments = Array.from({ length: MANY + 1 }, () => succeededPayment(client, { paidAt: deps.now() }))
  await storeSucceeded(deps, payments)
  aDayLater(deps)
  const settlement = await sweptNow(deps, client)
  for (const payment of payments.slice(1)) await reversePayment(deps, payment, disputed(payment))
  await fail(deps, settlement)
  return { deps, client, settlement }
}

const openReceivables = async (deps: TestDeps) => {
  const items = await listSuspense(deps, 'open', { page: 1, perPage: 100 })
  return items.filter(({ kind }) => kind === 'receivable')
}

it('a re-credit closes all that is owed for what it leaves out, however much, wherever the process dies', async () => {
  const calm = await manyGone()
  const counted = processThatDies(calm.deps)
  await recredit(counted.deps, calm.settlement)

  for (const death of [undefined, ...everyDeath(counted.calls.length)]) {
    const { deps, client, settlement } = await manyGone()
    if (death) await dies(() => recredit(processThatDies(deps, death).deps, settlement))
    await recredit(deps, settlement).catch((error: unknown) => expect(error).toMatchObject({ code: 'validation' }))

    expect(await openReceivables(deps)).toStrictEqual([])
    expect(await readWindow(deps, client.clientId)).toMatchObject({
      availableMinor: 95_900,
      reversedSweptMinor: MANY * 95_900,
    })
  }
})

it('sees that an operator closes one of them at the same moment', async () => {
  const { deps, client, settlement } = await manyGone()
  const [first] = await openReceivables(deps)
  const suspenseId = first?.suspenseId ?? ''
  const racing = beforeFirst(deps, 'transact', () =>
    resolveSuspense(deps, { suspenseId, ...BY_OPERATOR, resolution: 'recovered' }),
  )

  await recredit(racing, settlement)

  expect(await openReceivables(deps)).toStrictEqual([])
  const told = await listSuspense(deps, 'open', { page: 1, perPage: 100 })
  expect(told).toMatchObject([{ cause: 'left_out_though_closed', suspenseId: `${suspenseId}#left_out_though_closed` }])
  await expectBalanced(deps, client.clientId)
})
