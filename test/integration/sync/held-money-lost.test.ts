/**
 * Goal: what the provider takes of held money beyond what suspense holds is the house's loss, and
 * operators are told of it (design section 12). Method: refunds, disputes and voids of one capture
 * in different orders, each read again a day later.
 */
import { describe, expect } from 'vitest'
import { auditWholeGateway } from '../../../shared/audit/audit-gateway.ts'
import { minor } from '../../../shared/money.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { NOT_SETTLED, settledRow } from '../../support/fake-provider.ts'
import { invokeAdmin, OPERATOR } from '../../support/operator-actions.ts'
import { expectFinding, findingAbout } from '../../support/synced-payment.ts'
import { heldTest as it, sumsOf, ZERO_SUMS } from './held-money.ts'
import { dyingBefore } from './sync-test.ts'
import { rowOut } from './transfer-rows.ts'

function refundOf(amount: number) {
  const amountMinor = minor(amount)
  return { type: 'return', transactionId: `txn_refund_${amount}`, amountMinor } as const
}

function disputeOf(amount: number) {
  return {
    ...refundOf(amount + 25_000),
    transactionId: 'txn_dispute',
    reversalKind: 'chargeback',
    disputedMinor: minor(amount),
    feeMinor: minor(25_000),
  } as const
}

const VOID = { status: 'reversed', transactionId: 'txn_own' } as const
const OWN = { transactionId: 'txn_own' }

describe('sync: a row that takes more than suspense holds', () => {
  it('is told on a later reading, when a process died before the finding', async ({
    deps,
    rows,
    hold,
    syncAfter,
  }) => {
    const { heldRow } = await hold('second_capture')
    const refund = refundOf(130_000)
    const { transactionId } = refund
    rows.push(settledRow(heldRow, deps.now(), refund))
    await syncProviderTransactions(dyingBefore(deps, `${transactionId}#went_back_twice`))
    const sums = await sumsOf(deps)

    await syncAfter(86_400)

    await expectFinding(deps, transactionId, 'went_back_twice', { amountMinor: 30_000 })
    expect(await sumsOf(deps)).toStrictEqual(sums)
    expect(sums).toMatchObject({ suspenseMinor: 0 })
  })

  it.for([OWN, { ...OWN, ...NOT_SETTLED }])(
    'leaves the money held by its own row of %o, when a second row is void before it settles',
    async (own, { deps, hold, sync, syncAfter, showAnew, syncDays }) => {
      const { heldRow, item } = await hold('second_capture', own)
      const sums = await sumsOf(deps)
      const second = { status: 'reversed', transactionId: 'txn_second', ...NOT_SETTLED } as const

      await sync(settledRow(heldRow, deps.now(), second))
      await syncDays(3)

      expect(await item()).toMatchObject({ status: 'open' })
      expect(await sumsOf(deps)).toStrictEqual(sums)
      expect(await findingAbout(deps, 'txn_second', 'reversed_upstream')).toBeDefined()
      showAnew(heldRow, { status: 'reversed' })
      await syncAfter(3_600)
      expect(await item()).toMatchObject({ isVoid: true, status: 'resolved' })
    },
  )

  it('that contradicts itself is a finding, and takes what it says from the provider', async ({
    deps,
    hold,
    sync,
  }) => {
    const { heldRow, item } = await hold('second_capture', OWN)
    const refund = { ...refundOf(40_000), providerMinor: minor(-45_000) }

    await sync(settledRow(heldRow, deps.now(), refund))

    expect(await item()).toMatchObject({ status: 'open', refundedMinor: 40_000 })
    expect(await findingAbout(deps, 'txn_refund_40000', 'row_contradicts')).toBeDefined()
  })

  type Rows = readonly Partial<ProviderTransaction>[]
  it.for<readonly [string, Rows, lostMinor: number, ownFields?: object]>([
    ['a dispute after a refund of the whole', [refundOf(100_000), disputeOf(100_000)], 100_000],
    ['a refund after a dispute of the whole', [disputeOf(100_000), refundOf(100_000)], 100_000],
    ['a refund above the amount', [refundOf(130_000)], 30_000],
    ['a void after a refund of a part', [refundOf(60_000), VOID], 60_000],
    ['a refund after a void', [VOID, refundOf(100_000)], 100_000],
    ['a void before the settlement, after a refund', [refundOf(60_000), VOID], 60_000, NOT_SETTLED],
  ])(
    '%s is one finding with the loss',
    async ([, taken, lostMinor, ownFields], { deps, hold, syncAfter }) => {
      const { heldRow } = await hold('second_capture', { ...OWN, ...ownFields })
      deps.published.length = 0

      for (const fields of taken) await syncAfter(600, settledRow(heldRow, deps.now(), fields))
      await syncAfter(86_400)

      const { transactionId = '' } = taken.at(-1) ?? {}
      const finding = await findingAbout(deps, transactionId, 'went_back_twice')
      expect(finding).toMatchObject({ amountMinor: lostMinor, status: 'open' })
      expect(deps.published).toMatchObject([{ subject: `${transactionId}#went_back_twice` }])
      expect(deps.published[0]?.message).toContain(
        `of the held money ${heldRow.providerPaymentId} (payment ${finding?.paymentId})`,
      )
      expect(deps.published[0]?.message).toContain(`so the house bears ${lostMinor} IDR`)
    },
  )

  it.for<readonly [string, Rows]>([
    ['two refunds of parts', [refundOf(60_000), refundOf(40_000)]],
    ['a refund of a part and a dispute of the rest', [refundOf(60_000), disputeOf(40_000)]],
    ['a void', [VOID]],
  ])('%s of held money is no finding', async ([, taken], { deps, hold, syncAfter }) => {
    const { heldRow, item } = await hold('second_capture', OWN)
    deps.published.length = 0

    for (const fields of taken) await syncAfter(600, settledRow(heldRow, deps.now(), fields))
    await syncAfter(86_400)

    expect(await item()).toMatchObject({ status: 'resolved', resolution: 'refunded' })
    expect(deps.published).toStrictEqual([])
  })

  it.for(['refunded_by_bank', 'written_off'])(
    'a refund of a part is booked before the rest is %s, and is no finding when it is read again',
    async (resolution, { deps, rows, hold, sync, syncAfter }) => {
      const { heldRow, item } = await hold('second_capture')
      rows.push(settledRow(heldRow, deps.now(), refundOf(60_000)))
      const input = { operator: OPERATOR, suspense_id: heldRow.providerPaymentId, resolution }
      const byBank = { ...input, resolution: 'refunded_by_bank' }
      expect(await invokeAdmin('resolve-suspense', deps, byBank)).toMatchObject({ status: 409 })
      await sync()
      expect(await item()).toMatchObject({ status: 'open', refundedMinor: 60_000 })
      expect(await invokeAdmin('resolve-suspense', deps, input)).toMatchObject({ status: 200 })
      deps.published.length = 0
      const sums = await sumsOf(deps)

      await syncAfter(86_400)

      expect(deps.published).toStrictEqual([])
      expect(await sumsOf(deps)).toStrictEqual(sums)
    },
  )
})

it('a fee of held money that changes after the booking is the house’s, until the void', async ({
  deps,
  rows,
  hold,
  sync,
  showAnew,
}) => {
  const { heldRow } = await hold('second_capture', { isFeeEnded: true })
  const next = async (fields: object) => {
    showAnew(heldRow, fields)
    await sync()
    deps.clock.advance(600)
    return sumsOf(deps)
  }
  const more = { providerMinor: minor(95_000), keptMinor: minor(5_000) }
  const held = { providerMinor: 95_000, suspenseMinor: 100_000, costMinor: -5_000 }

  for (let reading = 0; reading < 2; reading++)
    expect(await next(more)).toStrictEqual({ ...ZERO_SUMS, ...held })
  await expectFinding(deps, `${heldRow.transactionId}#fee`, 'fee_changed', { amountMinor: 560 })
  const second = { ...heldRow, transactionId: 'txn_second', updatedAt: deps.now() }
  await sync(second)
  expect(await findingAbout(deps, 'txn_second', 'transaction_unexplained')).toBeDefined()
  rows.splice(1, 1)
  await sync({ ...second, status: 'reversed' })
  expect(await sumsOf(deps)).toStrictEqual({ ...ZERO_SUMS, ...held })
  expect((await auditWholeGateway(deps)).differences).toStrictEqual([])
  expect(await next({ ...more, status: 'reversed' })).toStrictEqual(ZERO_SUMS)
})

it('held money that a transfer gave back costs the house nothing but fees after the steps of its alert', async ({
  deps,
  credited,
  hold,
  sync,
}) => {
  const { heldRow } = await hold('second_capture')
  const given = { reference_id: credited.payment.paymentId, amount: 100_000, net_amount: 100_000 }
  const row = rowOut(deps, given)
  await sync(row)
  const resolve = (suspense_id: string, resolution: string) =>
    invokeAdmin('resolve-suspense', deps, { operator: OPERATOR, suspense_id, resolution })

  await resolve(heldRow.providerPaymentId, 'written_off')
  await resolve(`${row.transactionId}#transfer`, 'explained')

  expect(deps.published.at(-1)?.message).toContain('resolve that money as written_off. Then')
  expect(await sumsOf(deps)).toStrictEqual({
    ...ZERO_SUMS,
    providerMinor: -4_440,
    costMinor: -4_440,
  })
})

it('a row of another amount than the held money is booked once, however often it is read', async ({
  deps,
  hold,
  sync,
}) => {
  const figures = { amountMinor: minor(99_000), providerMinor: minor(94_560) }
  await hold('second_capture', { ...figures, isFeeEnded: true })
  const booked = await sumsOf(deps)
  expect(booked).toMatchObject({ suspenseMinor: 100_000, costMinor: -5_440 })

  await sync()

  expect(await sumsOf(deps)).toStrictEqual(booked)
})

it('a row of held money that the provider books again after the void is the house’s', async ({
  deps,
  hold,
  sync,
  showAnew,
}) => {
  const { heldRow } = await hold('second_capture')
  showAnew(heldRow, { status: 'reversed' })
  await sync()
  deps.published.length = 0

  // A page that the provider made before the void.
  await sync(heldRow, { ...heldRow, transactionId: 'txn_again', updatedAt: deps.now() })

  expect(deps.published).toMatchObject([{ subject: 'txn_again#transaction_unexplained' }])
  const { providerMinor } = heldRow
  expect(await sumsOf(deps)).toStrictEqual({
    ...ZERO_SUMS,
    providerMinor,
    otherMinor: providerMinor,
  })
})
