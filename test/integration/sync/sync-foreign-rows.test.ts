import { describe, expect } from 'vitest'
import { contradictions } from '../../../shared/books/get-books.ts'
import { findUnclaimedRow } from '../../../shared/journal/house-store.ts'
import { minor } from '../../../shared/money.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { findSuspenseByIds, movementFindingIds } from '../../../shared/suspense/suspense-store.ts'
import { suspenseKey } from '../../../shared/table/keys.ts'
import { NOT_SETTLED, settledRow } from '../../support/fake-provider.ts'
import { adjustBalance } from '../../support/money-rows.ts'
import { entriesIn } from '../../support/paid-builders.ts'
import {
  creditedPayment,
  expectUnexplained,
  expire,
  paidUpstream,
  paymentOf,
  pendingOf,
  rowNow,
} from '../../support/synced-payment.ts'
import { changeRow } from '../../support/tampering.ts'
import { sumsOf, ZERO_SUMS } from './held-money.ts'
import { foreignIds, syncTest as it } from './sync-test.ts'

describe('sync: rows that are no payments, and unknown rows', () => {
  it.for<[string, Partial<ProviderTransaction>]>([
    ['an adjustment', { type: 'correction' }],
    ['a withdrawal', { type: 'account' }],
    ['a row of an unknown type', { type: 'unknown', status: 'pending' }],
    ['a row of an unknown status', { status: 'unknown' }],
  ])(
    '%s of a payment is one finding and no movement',
    async ([, fields], { deps, client, credited, sync, syncAfter }) => {
      const row = rowNow(deps, credited, {
        ...fields,
        keptMinor: undefined,
        amountMinor: minor(25_000),
      })

      await sync(row)

      expect((await syncAfter(3_600)).complete).toBe(true)
      const about = { paymentId: credited.payment.paymentId, clientId: client.clientId }
      await expectUnexplained(deps, row.transactionId, { amountMinor: 25_000, ...about })
      expect(deps.published).toHaveLength(1)
      expect(await paymentOf(deps, credited)).toStrictEqual(credited.payment)
    },
  )

  it('a won dispute that names no payment is not reported as money taken back', async ({
    deps,
    sync,
  }) => {
    await sync(
      settledRow(foreignIds, deps.now(), {
        type: 'correction',
        isDisputeWon: true,
        providerPaymentId: '',
      }),
    )

    expect(deps.stored.items('SUSPENSE#')).toMatchObject([
      { kind: 'finding', cause: 'reversed_upstream', amount_minor: 100_000 },
    ])
  })

  const unmatched = { type: 'unmatched', providerMinor: 95_560, otherMinor: 95_560 }
  const fromAccount = { type: 'account', providerMinor: minor(-102_500) } as const

  it.for([
    [
      '',
      { type: 'return', providerPaymentId: '' },
      1,
      { type: 'unmatched', providerMinor: -100_000, otherMinor: -100_000 },
    ],
    ['', { type: 'correction' }, 1, unmatched],
    [
      ', although its unknown status was a finding before',
      { type: 'correction' },
      1,
      unmatched,
      { status: 'unknown' },
    ],
    ['', { type: 'unknown' }, 1, unmatched],
    [
      '',
      fromAccount,
      0,
      { type: 'unmatched', providerMinor: -102_500, bankMinor: 0, otherMinor: -102_500 },
    ],
    [
      '',
      { ...fromAccount, transfer: 'withdrawal', feeMinor: minor(2_500) },
      0,
      { type: 'withdrawal', bankMinor: 100_000, costMinor: -2_500, otherMinor: 0 },
    ],
    [
      ', with a finding about a net that its amount does not explain',
      { ...fromAccount, transfer: 'withdrawal' },
      1,
      { type: 'withdrawal', bankMinor: 100_000, costMinor: 0, otherMinor: -2_500 },
    ],
    [
      '',
      { ...fromAccount, transfer: 'topup', providerMinor: minor(97_500), feeMinor: minor(2_500) },
      0,
      { type: 'topup', bankMinor: -100_000, costMinor: -2_500, otherMinor: 0 },
    ],
  ] as const)(
    'a foreign row is booked to the house%s: %o %d %o',
    async ([, fields, findings, houseEntry, earlierFields], { deps, sync }) => {
      const row = settledRow(foreignIds, deps.now(), fields)

      await sync(...(earlierFields ? [{ ...row, ...earlierFields }] : []), row)

      expect(await findUnclaimedRow(deps, row.transactionId)).toMatchObject(houseEntry)
      expect(deps.stored.items('SUSPENSE#')).toHaveLength(findings)
      expect(deps.provider.countOf('getPayment')).toBe(0)
    },
  )

  const types = ['return', 'account', 'correction'] as const
  const changes = types.flatMap((type) =>
    (['reversed', 'failed'] as const).map((status) => [type, { status }] as const),
  )

  it.for([...changes, ['account', { status: 'reversed', currency: 'USD' }] as const])(
    'a booked %s is booked back when it is %o, whatever its currency is then',
    async ([type, change], { deps, sync, syncAfter, showAnew }) => {
      const row = settledRow(foreignIds, deps.now(), { type })
      await sync(row)
      deps.published.length = 0
      deps.clock.advance(600)
      showAnew(row, change)

      await syncAfter(300)
      await syncAfter(60)

      expect(deps.published).toStrictEqual([])
      expect(await sumsOf(deps)).toStrictEqual(ZERO_SUMS)
    },
  )

  it.for(['withdrawal', 'topup'] as const)(
    'a correction that takes over a booked %s undoes its bank side too',
    async (transfer, { deps, client, sync }) => {
      const providerMinor = minor(transfer === 'topup' ? 100_000 : -100_000)
      const row = settledRow(foreignIds, deps.now(), { type: 'account', transfer, providerMinor })
      await sync(row)
      expect(await sumsOf(deps)).toMatchObject({ providerMinor, bankMinor: 0 - providerMinor })

      await adjustBalance(deps, client, 'correction', 5, undefined, row.transactionId)

      expect(await sumsOf(deps)).toStrictEqual(ZERO_SUMS)
      expect(await entriesIn(deps, client)).toMatchObject([
        { type: 'correction', providerMinor, bankMinor: 0, otherMinor: providerMinor - 5 },
      ])
    },
  )

  // Public report: gumroad #5779.
  it.for(['', ', also if the finding of its movement names another payment'])(
    'a refund that fails after it was deducted becomes a finding%s',
    async (altered, { deps, credited, syncAfter, showAnew }) => {
      const row = rowNow(deps, credited, { type: 'return', providerPaymentId: '' })
      await syncAfter(300, row)
      const movedPayment = await paymentOf(deps, credited)
      const { paymentId } = credited.payment
      const [found] = await findSuspenseByIds(deps, movementFindingIds(row.transactionId))
      const nameInFinding = (id: string) =>
        changeRow(deps, suspenseKey(found?.suspenseId ?? ''), { set: { paymentId: id } })
      if (altered) await nameInFinding(deps.newId())
      showAnew(row, { status: 'failed' })

      await syncAfter(300)

      expect(movedPayment.movements).toHaveLength(1)
      expect(await paymentOf(deps, credited)).toStrictEqual(movedPayment)
      const subject = `${row.transactionId}#failure`
      await expectUnexplained(deps, subject, { status: 'open', paymentId })
      // The audit after the test names an altered finding.
      await nameInFinding(paymentId)
    },
  )

  it.for([
    ['has posted', true, {}],
    ['has credited', true, NOT_SETTLED],
    ['holds', false, NOT_SETTLED],
  ] as const)(
    'a payment’s own row that fails after the gateway %s its money is one finding',
    async ([, isCredited, fields], { deps, client, sync, syncAfter, showAnew }) => {
      const paid = await (isCredited ? creditedPayment(deps, client) : paidUpstream(deps, client))
      if (!isCredited) await expire(deps, paid.payment)
      const own = rowNow(deps, paid, fields)
      await sync(own)
      const before = await paymentOf(deps, paid)
      deps.published.length = 0
      deps.clock.advance(600)
      showAnew(own, { ...NOT_SETTLED, status: 'failed' })

      await sync()
      await syncAfter(86_400)

      expect(await paymentOf(deps, paid)).toStrictEqual(before)
      const subject = `${own.transactionId}#failure#row_contradicts`
      expect(deps.published).toMatchObject([{ subject }])
      expect(await contradictions(deps)).toStrictEqual(
        new Map([[client.clientId, [expect.objectContaining({ id: subject })]]]),
      )
    },
  )

  it('rows of the account and failed rows are not findings, and the log counts them', async ({
    deps,
    sync,
  }) => {
    const aRow = (fields: Partial<ProviderTransaction>) =>
      settledRow(foreignIds, deps.now(), fields)
    const status = 'failed'
    const rows = [aRow({ type: 'account' }), aRow({ type: 'account', status: 'reversed' })]

    const summary = await sync(...rows, aRow({ type: 'return', status }), aRow({ status }))

    // Two passes read the reversed row, and the second net all but the last.
    expect(summary).toMatchObject({ transactions: 8, unanswered: 0, complete: true })
    expect(deps.published).toStrictEqual([])
    expect(deps.lines.filter(({ code }) => code === 'sync.completed')).toMatchObject([
      { fields: { passed_over: 8 } },
    ])
  })

  it.for([
    [
      'but another capture is not booked on it',
      { providerPaymentId: 'py-other' },
      95_900,
      'reversed_upstream',
    ],
    ['and no capture is booked on it', { providerPaymentId: '' }, 0, 'refund#money_went_back'],
    ['and another’s capture moves neither', undefined, 2 * 95_900, 'reversed_upstream'],
    [
      'but is void from the start moves no money',
      { status: 'reversed' },
      95_900,
      'reversal#money_went_back',
    ],
  ] as const)(
    'a refund that names a payment %s',
    async ([, change, pending, reported], { deps, client, paid, credited, sync, syncAfter }) => {
      const { providerPaymentId } = paid
      const fields = change ?? { providerPaymentId }
      const row = rowNow(deps, credited, { type: 'return', ...fields })

      await sync(row)
      await syncAfter(3 * 86_400)

      expect(await pendingOf(deps, client)).toBe(pending)
      expect(deps.published).toMatchObject([{ subject: `${row.transactionId}#${reported}` }])
    },
  )

  it.for([
    ['waits for its payment’s credit', 0],
    ['comes after its payment’s credit on a page of old rows', 3 * 86_400],
  ] as const)(
    'a refund that names no capture %s',
    async ([, lateSeconds], { deps, client, paid, rows, sync, syncAfter }) => {
      await sync()
      const row = rowNow(deps, paid, { type: 'return', providerPaymentId: '' })
      rows.push(row, rowNow(deps, paid))

      await syncAfter(lateSeconds)
      await syncAfter(600)

      expect(await findUnclaimedRow(deps, row.transactionId)).toBeUndefined()
      expect((await paymentOf(deps, paid)).movements).toHaveLength(1)
      expect(await pendingOf(deps, client)).toBe(0)
    },
  )
})
