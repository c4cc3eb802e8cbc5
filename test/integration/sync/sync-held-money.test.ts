import { describe, expect } from 'vitest'
import { auditWholeGateway } from '../../../shared/audit/audit-gateway.ts'
import { minor } from '../../../shared/money.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { houseTotalKey, suspenseKey } from '../../../shared/table/keys.ts'
import { NOT_SETTLED, settledRow } from '../../support/fake-provider.ts'
import { expectHouseBalanced } from '../../support/recount/expect-balanced.ts'
import {
  expectFinding,
  expectSuspense,
  findingAbout,
  notifyOf,
  paymentOf,
} from '../../support/synced-payment.ts'
import { erase, putRaw, rawItem } from '../../support/tampering.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { expectCase, send } from '../payment/dispute-news.ts'
import { resolve } from '../payment/suspense-test.ts'
import { heldTest, refundFields, sumsOf, ZERO_SUMS } from './held-money.ts'
import { syncTest } from './sync-test.ts'

type Fields = Partial<ProviderTransaction>

async function expectLost(deps: TestDeps, fee: number) {
  const lost = fee === 0 ? {} : { providerMinor: -fee, costMinor: -fee }
  expect(await sumsOf(deps)).toStrictEqual({ ...ZERO_SUMS, ...lost })
  expect(deps.published.map(({ kind }) => kind)).toStrictEqual(['suspense.money'])
}

describe('sync: rows that return money in suspense', () => {
  heldTest.for<[string, boolean, Fields, Fields, number]>([
    ['a void of a second capture', true, {}, { status: 'reversed' }, 0],
    ['a void of a capture without a payment', false, {}, { status: 'reversed' }, 0],
    [
      'a void that gives back the fee',
      true,
      {},
      { status: 'reversed', providerMinor: minor(100_000) },
      0,
    ],
    ['a void of a row that has not settled', true, NOT_SETTLED, { status: 'reversed' }, 0],
    ['a refund', true, {}, refundFields, 4_440],
    ['a dispute', true, {}, { ...refundFields, reversalKind: 'chargeback' }, 4_440],
  ])(
    '%s leaves nothing in suspense, and costs the fee of the row that stands',
    async ([, isSecond, fields, takenFields, lostFee], { deps, hold, sync, showAnew }) => {
      const cause = isSecond ? 'second_capture' : 'unknown_reference'
      const { heldRow, item } = await hold(cause, fields)
      showAnew(heldRow, takenFields)

      await sync()

      expect(await item()).toMatchObject({ cause, status: 'resolved', resolution: 'refunded' })
      await expectLost(deps, lostFee)
    },
  )

  heldTest(
    'leave no half-written booking that an audit does not see',
    async ({ deps, hold, sync }) => {
      const [{ heldRow }, voidedMoney] = [
        await hold('second_capture', NOT_SETTLED),
        await hold('second_capture', NOT_SETTLED),
      ]
      await sync({ ...heldRow, ...refundFields, updatedAt: deps.now() })
      const voidedItem = await rawItem(deps, suspenseKey(voidedMoney.heldRow.providerPaymentId))
      await putRaw(deps, {
        ...voidedItem,
        is_void: true,
        status: 'resolved',
        resolution: 'written_off',
      })
      const totalKey = houseTotalKey('2026-11-20', 'suspense_refunded')
      const total = await rawItem(deps, totalKey)
      const item = await rawItem(deps, suspenseKey(heldRow.providerPaymentId))
      await erase(deps, totalKey)
      await putRaw(deps, { ...item, refunded_minor: undefined, status: 'open' })

      const report = JSON.stringify(await auditWholeGateway(deps))

      expect(report).toContain('house_total')
      expect(report).toContain('suspense.refunded_minor')
      expect(report).toContain('suspense.is_void')
      await putRaw(deps, voidedItem)
      await putRaw(deps, total)
      await putRaw(deps, item)
    },
  )

  heldTest(
    'the void of a row leaves the money to the row that was booked, and one in USD is a finding',
    async ({ deps, hold, sync }) => {
      const { heldRow, item } = await hold('second_capture', NOT_SETTLED)
      const other = { ...heldRow, ...settledRow(heldRow, deps.now()), transactionId: 'txn_usd' }

      await sync({ ...other, currency: 'USD' })
      expect(await sumsOf(deps)).toStrictEqual(ZERO_SUMS)
      await sync({ ...other, transactionId: 'txn_second' })
      await sync({ ...heldRow, status: 'reversed', updatedAt: deps.now() })

      expect(await item()).toMatchObject({ status: 'open', providerMinor: 95_560 })
      expect(await sumsOf(deps)).toMatchObject({ suspenseMinor: 100_000 })
      await expectHouseBalanced(deps)
    },
  )

  heldTest.for([
    ['in one page with the money’s own row', 'second_capture'],
    ['in one page with the money’s own row', 'unknown_reference'],
    ['before the money’s own row', 'second_capture'],
  ] as const)(
    'a refund that is read %s leaves nothing in suspense of a %s',
    async ([when, cause], { deps, heldRow, sync, syncAfter }) => {
      const row = heldRow(cause)
      const refund = { ...row, ...refundFields }

      const isBefore = when === 'before the money’s own row'
      if (isBefore) await sync(refund)
      await (isBefore ? sync(row) : sync(row, refund))
      await syncAfter(180)

      await expectSuspense(deps, row.providerPaymentId, {
        cause,
        status: 'resolved',
        resolution: 'refunded',
      })
      await expectLost(deps, 4_440)
    },
  )

  heldTest(
    'a refund that was booked to the house is not booked again',
    async ({ deps, heldRow, sync, syncAfter }) => {
      const row = heldRow('second_capture')
      const refund = { ...row, ...refundFields }
      deps.provider.silence('getPayment', 'refused')
      expect(await sync(refund)).toMatchObject({ unanswered: 0, complete: true })
      deps.provider.heal('getPayment')

      await sync(row)
      await syncAfter(100)

      await expectFinding(deps, refund.transactionId, 'reversed_upstream', { status: 'open' })
      await expectSuspense(deps, row.providerPaymentId, { status: 'open', providerMinor: 95_560 })
      expect(await sumsOf(deps)).toMatchObject({
        providerMinor: -4_440,
        suspenseMinor: 100_000,
        costMinor: -4_440,
        otherMinor: -100_000,
      })
    },
  )

  heldTest(
    'an older version of the row books nothing after its void',
    async ({ deps, credited, sync, syncAfter, showAnew }) => {
      const { payment, reference } = credited
      const providerPaymentId = deps.provider.pay(payment.paymentRequestId)
      deps.provider.answer('getPayment', { kind: 'not_found' })
      // The provider does not show the capture yet, so the row waits unchanged.
      const heldRow = settledRow({ providerPaymentId, reference }, deps.now())
      await sync(heldRow)
      deps.provider.heal('getPayment')
      await notifyOf(deps, providerPaymentId)
      deps.clock.advance(600)
      showAnew(heldRow, { status: 'reversed' })
      await sync()

      await syncAfter(600)

      await expectSuspense(deps, providerPaymentId, { status: 'resolved', resolution: 'refunded' })
      expect(await sumsOf(deps)).toStrictEqual(ZERO_SUMS)
    },
  )

  heldTest.for([
    ['was written off', { providerMinor: 95_560, costMinor: 35_560, otherMinor: 60_000 }],
    ['is void', {}],
    ['was written off, and is void', { costMinor: -60_000, otherMinor: 60_000 }],
  ] as const)(
    'the void of a part’s refund opens no item that %s',
    async ([how, kept], { deps, hold, sync, showAnew }) => {
      const { heldRow, item } = await hold('second_capture')
      const part = { amountMinor: minor(40_000), providerMinor: minor(-40_000) }
      const refund = { ...heldRow, ...refundFields, ...part, updatedAt: deps.now() }
      await sync(refund)
      if (how !== 'is void')
        await resolve(deps, { suspenseId: heldRow.providerPaymentId }, 'written_off')
      if (how !== 'was written off') showAnew(heldRow, { status: 'reversed' })
      await sync()
      const closed = await item()
      deps.clock.advance(600)
      showAnew(refund, { status: 'reversed' })

      await sync()

      expect(await item()).toStrictEqual(closed)
      expect(closed?.status).toBe('resolved')
      // Only of money that is not void a customer lacks a part.
      const told = await findingAbout(deps, `${refund.transactionId}#reversal`, 'reversed_upstream')
      expect(told?.status).toBe(how === 'was written off' ? 'open' : undefined)
      expect(await sumsOf(deps)).toStrictEqual({ ...ZERO_SUMS, ...kept })
      await expectHouseBalanced(deps)
    },
  )

  heldTest.for<[string, Fields, number]>([
    ['a void', { status: 'reversed' }, 0],
    ['a refund', refundFields, 4_440],
  ])(
    '%s of money that an operator has refunded is a finding, and the house bears it',
    async ([, takenFields, lostFee], { deps, rows, hold, sync }) => {
      const { heldRow } = await hold('unknown_reference')
      await resolve(deps, { suspenseId: heldRow.providerPaymentId })
      const row = { ...heldRow, ...takenFields, updatedAt: deps.now() }
      rows.splice(0, 1, row)

      await sync()

      await expectFinding(deps, row.transactionId, 'reversed_upstream', { amountMinor: 100_000 })
      expect(await sumsOf(deps)).toMatchObject({
        providerMinor: 0 - lostFee,
        suspenseMinor: 0,
        costMinor: -100_000 - lostFee,
      })
    },
  )
})

/** Two attempts of one payment are paid: one is credited, the other is held. */

const attempts = syncTest.extend('pay', ({ deps, paid }) => async (isOwnCredited: boolean) => {
  const { paymentId, paymentRequestId } = paid.payment
  const { input } = deps.provider.requestOf(paymentRequestId)
  const other = { ...input, reference: `${paymentId}-9` }
  const answer = await deps.provider.healthy.createRequest(other, 1_000)
  if (answer.kind !== 'created') throw new Error('no other attempt')
  const { request } = answer
  const second = { ...request, providerPaymentId: deps.provider.pay(request.paymentRequestId) }
  const own = { ...paid, paymentRequestId }
  const [credited, kept] = isOwnCredited ? [own, second] : [second, own]
  for (const { providerPaymentId } of [credited, kept]) await notifyOf(deps, providerPaymentId)
  return { credited, kept }
})

attempts.for([
  ['own', 'reference'],
  ['own', 'request'],
  ['other', 'reference'],
  ['other', 'request'],
])(
  'with the %s one credited, the %s of a refund or dispute says whose money goes back',
  async ([attempt, by], { deps, paid, pay, sync, syncAfter }) => {
    const { credited, kept } = await pay(attempt === 'own')
    await sync(settledRow(credited, deps.now()), settledRow(kept, deps.now()))
    deps.clock.advance(600)
    const refundOf = ({ reference, paymentRequestId }: typeof kept, transactionId: string) => {
      const ids = { providerPaymentId: '', reference }
      const named = by === 'request' ? { paymentRequestId } : {}
      return settledRow(ids, deps.now(), { ...refundFields, ...named, transactionId })
    }
    const chargeback = { reversalKind: 'chargeback', disputedMinor: minor(60_000) } as const

    await sync(
      { ...refundOf(kept, 'txn_held'), amountMinor: minor(40_000), providerMinor: minor(-40_000) },
      { ...refundOf(kept, 'txn_disputed'), ...chargeback, providerMinor: minor(-60_000) },
      refundOf(credited, 'txn_credited'),
    )
    await syncAfter(600)
    await send(deps, { reference_id: kept.reference })

    const { movements, dispute } = await paymentOf(deps, paid)
    expect(movements).toMatchObject([{ transactionId: 'txn_credited' }])
    expect(dispute).toBeUndefined()
    await expectCase(deps, { status: 'open' })
    await expectSuspense(deps, kept.providerPaymentId, {
      cause: 'second_capture',
      resolution: 'refunded',
    })
  },
)

attempts(
  'our bank refunds no held money whose refund names its attempt alone',
  async ({ deps, rows, pay, sync }) => {
    const { credited, kept } = await pay(true)
    await sync(settledRow(credited, deps.now()), settledRow(kept, deps.now()))
    deps.clock.advance(600)
    const ids = { providerPaymentId: '', reference: kept.reference }
    rows.push(settledRow(ids, deps.now(), refundFields))
    const { providerPaymentId: suspenseId } = kept

    await expect(resolve(deps, { suspenseId })).rejects.toMatchObject({ code: 'conflict' })

    await sync()
    await expectSuspense(deps, suspenseId, { resolution: 'refunded' })
  },
)
