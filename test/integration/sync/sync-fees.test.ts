import { describe, expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { postPayments } from '../../../shared/posting/post-payments.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import { post, settledRowFor } from '../../support/paid-builders.ts'
import { entriesIn } from '../../support/recount/entries-in.ts'
import { creditedPayment, findingAbout, paymentOf, pendingOf, rowNow } from '../../support/synced-payment.ts'
import { syncTest as it } from './sync-test.ts'

describe('sync: the fee of a credited payment (design section 4, Fee)', () => {
  it('turns the estimate, and the ledger, into what the provider kept', async ({ deps, client, rows, credited }) => {
    deps.clock.advance(3_600)
    rows.push(rowNow(deps, credited, { settledAt: deps.now() }))

    await syncProviderTransactions(deps)

    const { openAt: _, ...payment } = credited.payment
    expect(await paymentOf(deps, credited)).toStrictEqual({
      ...payment,
      feeStatus: 'actual',
      providerFeeMinor: 4_440,
      netMinor: 95_460,
      finalFee: { status: 'actual', feeMinor: 4_440, at: deps.now() },
      providerSettledAt: deps.now(),
      postedAt: deps.now(),
      ownRow: { transactionId: rows[0]?.transactionId, providerMinor: 95_560 },
      moneyVersion: 1,
    })
    expect(await pendingOf(deps, client.clientId)).toBe(95_460)
  })

  it('credits a payment and posts it by one row that has settled', async ({ deps, client, rows, paid }) => {
    const settledAt = deps.now()
    rows.push(rowNow(deps, paid, { settledAt }))
    await syncProviderTransactions(deps)
    const posted = await paymentOf(deps, paid)

    deps.clock.advance(3_600)
    rows.push(rowNow(deps, paid, { settledAt: deps.now() }))
    await syncProviderTransactions(deps)

    expect(posted).toMatchObject({ status: 'succeeded', feeStatus: 'actual', providerSettledAt: settledAt })
    expect(await paymentOf(deps, paid)).toStrictEqual(posted)
    expect(await entriesIn(deps, client)).toHaveLength(1)
  })

  it.for([
    [
      'a zero where the tariff says zero',
      { method: 'qris', channelCode: undefined, notionalMinor: minor(100) },
      0,
      100,
    ],
    ['a zero where the tariff names a fee', { notionalMinor: minor(100_000) }, 0, 99_900],
    ['a flat fee that is more than the payment', { notionalMinor: minor(1_000) }, 4_440, -3_441],
  ] as const)('accepts %s', async ([, fields, fee, net], { deps, client, rows }) => {
    const paid = await creditedPayment(deps, client, fields)
    rows.push(rowNow(deps, paid, { amountMinor: fields.notionalMinor, keptMinor: minor(fee) }))

    await syncProviderTransactions(deps)

    expect(await paymentOf(deps, paid)).toMatchObject({ feeStatus: 'actual', providerFeeMinor: fee, netMinor: net })
    expect(await pendingOf(deps, client.clientId)).toBe(net)
  })
})

describe('sync: what it cannot explain about a credited payment', () => {
  it.for<readonly [string, Partial<ProviderTransaction>, string, number]>([
    ['less than nothing kept', { keptMinor: minor(-1) }, 'fee_changed', -1],
    ['another amount', { amountMinor: minor(99_999) }, 'amount_differs', 99_999],
    ['another currency', { currency: 'PHP' }, 'amount_differs', 100_000],
  ])(
    '%s: a finding with an alert, once, and the fee stays the estimate',
    async ([, fields, cause, amountMinor], { deps, client, rows, credited }) => {
      rows.push(rowNow(deps, credited, fields))

      await syncProviderTransactions(deps)
      deps.clock.advance(3_600)
      await syncProviderTransactions(deps)

      const { paymentId } = credited.payment
      expect(await findingAbout(deps, paymentId, cause)).toMatchObject({
        kind: 'finding',
        cause,
        amountMinor,
        paymentId,
        clientId: client.clientId,
        providerPaymentId: credited.providerPaymentId,
        status: 'open',
      })
      expect(deps.published.map(({ kind, subject }) => ({ kind, subject }))).toStrictEqual([
        { kind: 'suspense.finding', subject: `${paymentId}#${cause}` },
      ])
      expect(await paymentOf(deps, credited)).toMatchObject({
        status: 'succeeded',
        feeStatus: 'estimated',
        netMinor: 95_900,
      })
      expect(await pendingOf(deps, client.clientId)).toBe(95_900)
    },
  )

  it('a fee that is not the actual one any more: a finding, no correction', async ({
    deps,
    client,
    rows,
    credited,
  }) => {
    await post(deps, credited.payment)
    rows.push(rowNow(deps, credited, { keptMinor: minor(4_444) }))

    await syncProviderTransactions(deps)

    expect(await findingAbout(deps, credited.payment.paymentId, 'fee_changed')).toMatchObject({ amountMinor: 4_444 })
    expect(await paymentOf(deps, credited)).toMatchObject({ feeStatus: 'actual', providerFeeMinor: 4_000 })
    expect(await pendingOf(deps, client.clientId)).toBe(95_900)
  })

  it('another run that posted it first is the one that counts', async ({ deps, client, rows, credited }) => {
    rows.push(rowNow(deps, credited))
    const { pk } = paymentKey(credited.payment.paymentId)
    const overtaken = interceptTable(deps, {
      before: async (call) => {
        if (call.name !== 'transact' || !call.steps.some(({ key }) => key.pk === pk)) return
        await postPayments(deps, [
          { payment: credited.payment, by: { row: settledRowFor(credited.payment, { feeMinor: 4_321 }) } },
        ])
      },
    })

    await syncProviderTransactions(overtaken)

    expect(await paymentOf(deps, credited)).toMatchObject({ providerFeeMinor: 4_321, netMinor: 95_579 })
    expect(await findingAbout(deps, credited.payment.paymentId, 'fee_changed')).toMatchObject({ amountMinor: 4_440 })
    expect(await pendingOf(deps, client.clientId)).toBe(95_579)
  })
})
