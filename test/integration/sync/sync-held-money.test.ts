import { describe, expect } from 'vitest'
import { auditHouse } from '../../../shared/audit/judged/audit-house.ts'
import { findUnclaimedRow, houseTotals } from '../../../shared/journal/house-store.ts'
import { minor } from '../../../shared/money.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { resolveSuspense } from '../../../shared/suspense/resolve-suspense.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { houseTotalKey, suspenseKey } from '../../../shared/table/keys.ts'
import { exists, remove } from '../../../shared/table/step.ts'
import { addMs, DAY_MS, HOUR_MS } from '../../../shared/time.ts'
import { NOT_SETTLED, settledRow } from '../../support/fake-provider.ts'
import { findingAbout } from '../../support/synced-payment.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { syncTest as it } from './sync-test.ts'

/** What the house journal has booked, by side. */
async function sumsOf(deps: TestDeps) {
  const totals = await houseTotals(deps, { fromDay: '2026-11-20', untilDay: '2026-11-20' })
  const sides = ['providerMinor', 'suspenseMinor', 'houseMinor', 'bankMinor'] as const
  return Object.fromEntries(
    sides.map((side) => [side, totals.reduce((sum, total) => sum + total[side], 0)]),
  )
}

const NOTHING = { providerMinor: 0, suspenseMinor: 0, houseMinor: 0, bankMinor: 0 }

const held = it
  /** The settled row of money that came after the payment was credited, or that names no payment. */
  .extend(
    'own',
    ({ deps, credited }) =>
      (cause: 'second_capture' | 'unknown_reference', fields = {}) => {
        const reference = cause === 'second_capture' ? credited.reference : 'order 17'
        const providerPaymentId = deps.provider.pay(credited.payment.paymentRequestId)
        Object.assign(deps.provider.payments.get(providerPaymentId) ?? {}, { reference })
        return settledRow({ providerPaymentId, reference }, deps.now(), fields)
      },
  )
  .extend(
    'hold',
    ({ deps, own, sync }) =>
      async (cause: 'second_capture' | 'unknown_reference', fields = {}) => {
        const row = own(cause, fields)
        await sync(row)
        deps.clock.advance(600)
        return { own: row, item: () => findSuspense(deps, row.providerPaymentId) }
      },
  )

describe('sync: rows that name money in suspense', () => {
  const back = { type: 'return', transactionId: 'txn_back', providerMinor: minor(-95_560) } as const

  held.for<
    readonly [string, boolean, Partial<ProviderTransaction>, Partial<ProviderTransaction>, number]
  >([
    ['a void of a second capture', true, {}, { status: 'reversed' }, 2],
    ['a void of a capture without a payment', false, {}, { status: 'reversed' }, 2],
    [
      'a void that gives back the fee',
      true,
      {},
      { status: 'reversed', providerMinor: minor(100_000) },
      2,
    ],
    ['a void of a row that has not settled', true, NOT_SETTLED, { status: 'reversed' }, 1],
    ['a refund', true, {}, back, 2],
    ['a dispute', true, {}, { ...back, reversalKind: 'chargeback' }, 2],
  ])(
    '%s makes all sums zero',
    async ([, isSecond, fields, taken, booked], { deps, rows, hold, sync }) => {
      const cause = isSecond ? 'second_capture' : 'unknown_reference'
      const { own, item } = await hold(cause, fields)
      rows.splice(0, 1, { ...own, ...taken, updatedAt: deps.now() })

      await sync()

      expect(await item()).toMatchObject({
        cause,
        status: 'resolved',
        resolution: 'refunded',
        refundedMinor: 100_000,
      })
      expect(
        await houseTotals(deps, { fromDay: '2026-11-20', untilDay: '2026-11-20' }),
      ).toHaveLength(booked)
      expect(await sumsOf(deps)).toStrictEqual(NOTHING)
      expect(deps.published.map(({ kind }) => kind)).toStrictEqual(['suspense.money'])
    },
  )

  held(
    'leave no half of the first one that an audit does not see',
    async ({ deps, hold, sync }) => {
      const [{ own }, voided] = [
        await hold('second_capture', NOT_SETTLED),
        await hold('second_capture', NOT_SETTLED),
      ]
      await sync({ ...own, ...back, updatedAt: deps.now() })
      const voidedItem = await rawItem(deps, suspenseKey(voided.own.providerPaymentId))
      await putRaw(deps, {
        ...voidedItem,
        is_void: true,
        status: 'resolved',
        resolution: 'written_off',
      })
      const totalKey = houseTotalKey('2026-11-20', 'suspense_refunded')
      const total = await rawItem(deps, totalKey)
      const item = await rawItem(deps, suspenseKey(own.providerPaymentId))
      await deps.table.write(remove(totalKey, exists))
      await putRaw(deps, { ...item, refunded_minor: undefined, status: 'open' })

      const seen = JSON.stringify(await auditHouse(deps))

      expect(seen).toContain('house_total.count')
      expect(seen.match(/suspense\.refunded_minor/g)).toHaveLength(2)
      await putRaw(deps, voidedItem)
      await putRaw(deps, total)
      await putRaw(deps, item)
    },
  )

  held.for([
    ['in one page with it', 'second_capture'],
    ['in one page with it', 'unknown_reference'],
    ['before it', 'second_capture'],
  ] as const)(
    'a refund that is read %s makes the sums of a %s zero',
    async (read, { deps, own, sync, syncAfter }) => {
      const [when, cause] = read
      const row = own(cause)
      const refund = { ...row, ...back }

      if (when === 'before it') await sync(refund)
      await (when === 'before it' ? sync(row) : sync(row, refund))
      await syncAfter(180)

      const item = await findSuspense(deps, row.providerPaymentId)
      expect(item).toMatchObject({ cause, status: 'resolved', resolution: 'refunded' })
      expect(await sumsOf(deps)).toStrictEqual(NOTHING)
      expect(deps.published.map(({ kind }) => kind)).toStrictEqual(['suspense.money'])
    },
  )

  held(
    'a refund that was booked to the house is not booked again',
    async ({ deps, own, sync, syncAfter }) => {
      const row = own('unknown_reference')
      const refund = { ...row, ...back }
      await sync(refund)

      await sync(row)
      await syncAfter(100)

      expect(await findingAbout(deps, refund.transactionId, 'reversed_upstream')).toMatchObject({
        status: 'open',
      })
      expect(await findSuspense(deps, row.providerPaymentId)).toMatchObject({
        status: 'open',
        postedMinor: 100_000,
      })
      expect(await sumsOf(deps)).toMatchObject({
        providerMinor: 0,
        suspenseMinor: 100_000,
        houseMinor: -100_000,
      })
    },
  )

  held.for([{ settlesIn: DAY_MS }, { settlesIn: undefined }])(
    'its own row is booked when it has settled, although the provider marks no update: %o',
    async ({ settlesIn }, { deps, rows, hold, sync }) => {
      const createdAt = deps.now()
      const settlesAt = settlesIn === undefined ? undefined : addMs(createdAt, settlesIn)
      const { own, item } = await hold('unknown_reference', {
        ...NOT_SETTLED,
        createdAt,
        settlesAt,
      })
      // The round that begins two minutes before the last one.
      await sync()
      const before = await item()
      rows.splice(
        0,
        1,
        settledRow(own, own.updatedAt, { ...own, keptMinor: minor(4_440), settledAt: deps.now() }),
      )

      deps.clock.set(addMs(createdAt, (settlesIn ?? 4 * DAY_MS) + 2 * HOUR_MS))
      await sync()

      expect(before).not.toHaveProperty('postedMinor')
      expect(await item()).toMatchObject({ status: 'open', postedMinor: 100_000 })
    },
  )

  held(
    'a dispute takes the part that it disputes, not the fee in its row',
    async ({ deps, hold, sync }) => {
      const { own, item } = await hold('unknown_reference')
      const amounts = {
        amountMinor: minor(30_000),
        disputedMinor: minor(25_000),
        providerMinor: minor(-30_000),
      }

      await sync(settledRow(own, deps.now(), { ...back, ...amounts, reversalKind: 'chargeback' }))

      expect(await item()).toMatchObject({ status: 'open', refundedMinor: 25_000 })
      expect(await sumsOf(deps)).toMatchObject({ suspenseMinor: 75_000 })
    },
  )

  held.for<readonly [string, Partial<ProviderTransaction>, string, object | undefined]>([
    ['a deduction', { type: 'correction' }, 'transaction_unexplained', { type: 'unmatched' }],
    [
      'a won dispute',
      { type: 'correction', isDisputeWon: true },
      'reversed_upstream',
      { type: 'unmatched' },
    ],
    [
      'a void refund',
      { type: 'return', status: 'reversed' },
      'reversal#reversed_upstream',
      undefined,
    ],
    ['an unknown status', { status: 'unknown' }, 'transaction_unexplained', undefined],
  ])(
    '%s is a finding, and the money stays in suspense',
    async ([, fields, cause, booked], { deps, hold, sync }) => {
      const { own, item } = await hold('unknown_reference')
      const before = await item()
      const row = settledRow(own, deps.now(), {
        ...fields,
        keptMinor: undefined,
        amountMinor: minor(25_000),
      })

      await sync(row)

      expect(await item()).toStrictEqual(before)
      expect(await findingAbout(deps, row.transactionId, cause)).toMatchObject({
        status: 'open',
        amountMinor: 25_000,
      })
      expect(await findUnclaimedRow(deps, row.transactionId)).toEqual(
        booked && expect.objectContaining(booked),
      )
    },
  )

  held(
    'an older version of the row books nothing after its void',
    async ({ deps, rows, credited, sync, syncAfter }) => {
      const { payment, reference } = credited
      const providerPaymentId = deps.provider.pay(payment.paymentRequestId)
      deps.provider.script('getPayment', async () => ({ kind: 'not_found' }))
      // The provider does not show the capture yet, so the row waits as it is.
      const own = settledRow({ providerPaymentId, reference }, deps.now())
      await sync(own)
      deps.provider.heal('getPayment')
      await applyProviderNews(deps, { providerPaymentId }, 'callback')
      deps.clock.advance(600)
      rows.splice(0, 1, { ...own, status: 'reversed', updatedAt: deps.now() })
      await sync()

      await syncAfter(600)

      expect(await findSuspense(deps, providerPaymentId)).toMatchObject({
        status: 'resolved',
        resolution: 'refunded',
      })
      expect(await sumsOf(deps)).toStrictEqual(NOTHING)
    },
  )

  held.for<[string, Partial<ProviderTransaction>]>([
    ['a void', { status: 'reversed' }],
    ['a refund', back],
  ])(
    '%s of money that an operator has refunded is a finding',
    async ([, taken], { deps, rows, hold, sync }) => {
      const { own } = await hold('unknown_reference')
      const { providerPaymentId: suspenseId } = own
      await resolveSuspense(deps, {
        suspenseId,
        operator: 'ayu',
        resolution: 'refunded_by_bank',
        notes: 'BCA 17',
      })
      const row = { ...own, ...taken, updatedAt: deps.now() }
      rows.splice(0, 1, row)

      await sync()

      expect(await findingAbout(deps, row.transactionId, 'reversed_upstream')).toMatchObject({
        amountMinor: 100_000,
      })
      expect(await sumsOf(deps)).toMatchObject({
        providerMinor: 0,
        suspenseMinor: 0,
        houseMinor: -100_000,
      })
    },
  )
})
