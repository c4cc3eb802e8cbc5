/**
 * Goal: a refund that an operator made by transfer is never the house's loss in silence (design
 * sections 10 and 14): a row out that names a payment is a case, and `refund-payment` books it.
 * Method: the provider's rows as its adapter reads them, and the audits after each.
 */
import { describe, expect } from 'vitest'
import { derivedUuid } from '../../../shared/ids.ts'
import { bookingsOf } from '../../../shared/journal/house-store.ts'
import { minor } from '../../../shared/money.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { houseRowOf } from '../../../shared/posting/house-journal.ts'
import type { ProviderTransaction } from '../../../shared/provider/provider.ts'
import { settlementEntries } from '../../../shared/settlement/statement/settlement-entries.ts'
import { disputesBefore } from '../../../shared/suspense/alert-message.ts'
import { checkSuspenseAlert } from '../../../shared/suspense/record-suspense.ts'
import { closeSuspense, findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { adjustBalance, bookRefund } from '../../support/money-rows.ts'
import { eventsOf } from '../../support/payment-builders.ts'
import { expectHouseBalanced } from '../../support/recount/expect-balanced.ts'
import { payOut, sweptADayLater } from '../../support/settlement-builders.ts'
import { creditedPayment, paymentOf, pendingOf, rowNow } from '../../support/synced-payment.ts'
import { putRaw } from '../../support/tampering.ts'
import { beforeCommit, type TestDeps } from '../../support/test-deps.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'
import { CASE, send } from '../payment/dispute-news.ts'
import { syncTest as it } from './sync-test.ts'
import { refund, rowOut } from './transfer-rows.ts'

function caseOf(deps: TestDeps, { transactionId }: ProviderTransaction) {
  return findSuspense(deps, `${transactionId}#transfer`)
}

async function expectRefund(deps: TestDeps, id: string, { transactionId }: ProviderTransaction) {
  const booked = { status: 200, body: { amount_minor: 60_000 } }
  expect(await refund(deps, id, transactionId)).toMatchObject(booked)
}

describe('a row out that names a payment', () => {
  it.for<[string, (id: string) => object]>([
    ['by its id', (id) => ({ reference_id: id })],
    ['by the reference of its attempt', (id) => ({ reference_id: `${id}-1` })],
    [
      'in a description in capitals, after another id',
      (id) => ({ description: `${derivedUuid('another payment')} ${id}`.toUpperCase() }),
    ],
    ['by a withdrawal', (id) => ({ type: 'WITHDRAWAL', reference_id: id })],
    ['by a refund', (id) => ({ type: 'REFUND', reference_id: `a${id}` })],
    ['by a row of an unknown type', (id) => ({ type: 'NEW_TYPE', reference_id: id })],
  ])(
    '%s is a case, and refund-payment books it',
    async ([, named], { deps, client, credited, sync }) => {
      const { paymentId } = credited.payment
      const row = rowOut(deps, named(paymentId))

      await sync(row)
      await sync()

      expect(await caseOf(deps, row)).toMatchObject({
        kind: 'case',
        cause: 'transfer',
        status: 'open',
        amountMinor: 60_000,
        paymentId,
        clientId: client.clientId,
      })
      expect(deps.published).toMatchObject([
        { kind: 'suspense.case', subject: `${row.transactionId}#transfer` },
      ])
      expect(deps.published[0]?.message).toContain(
        `refund-payment --payment_id ${paymentId} --amount_minor 60000 --provider_transaction_id ${row.transactionId}`,
      )
      await expectRefund(deps, paymentId, row)
      expect(await caseOf(deps, row)).toMatchObject({ status: 'resolved', resolution: 'refunded' })
      expect(await findStoredPayment(deps, paymentId)).toMatchObject({
        status: 'succeeded',
        takenBackMinor: 60_000,
        reversal: { kind: 'refund', amountMinor: 60_000 },
      })
      await expectHouseBalanced(deps)
    },
  )

  it('that names its payment only when it is read again stays booked once, and becomes a case', async ({
    deps,
    credited,
    sync,
  }) => {
    const { paymentId } = credited.payment
    const row = rowOut(deps, { type: 'WITHDRAWAL', reference_id: paymentId })
    // When the row is read first, its payment is in creation, and the row names nothing.
    await sync({ ...row, reference: '', mentionedPaymentIds: undefined })
    deps.provider.transactions.pop()

    await sync(row)
    await sync()

    expect(Object.keys(await bookingsOf(deps, houseRowOf(row)))).toStrictEqual(['withdrawal'])
    expect(await caseOf(deps, row)).toMatchObject({ status: 'open', paymentId })
    await expectHouseBalanced(deps)
    await expectRefund(deps, paymentId, row)
    await expectHouseBalanced(deps)
  })

  it.for([
    ['DISBURSEMENT', 'VOIDED', []],
    ['NEW_TYPE', 'VOIDED', []],
    ['WITHDRAWAL', 'SUCCESS', ['withdrawal']],
  ] as const)(
    'by the reference of its attempt is booked by its type and moves nothing of it: %s %s',
    async ([type, status, booked], { deps, credited, sync }) => {
      const reference_id = `${credited.payment.paymentId}-1`
      const row = rowOut(deps, { type, status, reference_id })

      await sync(row)

      expect(Object.keys(await bookingsOf(deps, houseRowOf(row)))).toStrictEqual(booked)
      expect(await paymentOf(deps, credited)).toStrictEqual(credited.payment)
    },
  )

  it('twice are two cases: the second refund takes what is left, not more', async ({
    deps,
    credited,
    sync,
  }) => {
    const { paymentId } = credited.payment
    const rows = [
      rowOut(deps, { reference_id: paymentId }),
      rowOut(deps, { reference_id: paymentId }),
    ]
    await sync(...rows)

    const replies = []
    for (const { transactionId } of rows) replies.push(await refund(deps, paymentId, transactionId))

    expect(replies).toMatchObject([{ status: 200 }, { status: 422 }])
    const states = await Promise.all(rows.map((row) => caseOf(deps, row)))
    expect(states).toMatchObject([{ status: 'resolved' }, { status: 'open' }])
    const reversal = { amountMinor: 60_000 }
    expect(await findStoredPayment(deps, paymentId)).toMatchObject({ reversal })
  })

  it('after its settlement was paid out is taken from the next one, and the house loses its fee alone', async ({
    deps,
    client,
    sync,
  }) => {
    const paid = await creditedPayment(deps, client, { notionalMinor: minor(500_000) })
    const { paymentId } = paid.payment
    await sync(rowNow(deps, paid, { amountMinor: minor(500_000) }))
    const { netMinor } = await payOut(deps, await sweptADayLater(deps, client))
    const row = rowOut(deps, { reference_id: paymentId, amount: 500_000, net_amount: 500_000 })
    await sync(row)

    const reply = await refund(deps, paymentId, row.transactionId, 500_000)

    expect(reply).toMatchObject({ status: 200 })
    expect(await pendingOf(deps, client)).toBe(0 - netMinor)
    const events = await eventsOf(deps, paid.payment)
    expect(events.map((event) => event?.name)).toContain(
      `payment.reversed#${row.transactionId}#refund`,
    )
    const refunds = deps.stored.items('JOURNAL#').filter(({ type }) => type === 'refund')
    expect(refunds).toMatchObject([
      { net_minor: 0 - netMinor, provider_minor: -500_000, cost_minor: -4_440 },
    ])
    const other = await creditedPayment(deps, client, { notionalMinor: minor(900_000) })
    await sync(rowNow(deps, other, { amountMinor: minor(900_000) }))
    const next = await sweptADayLater(deps, client)
    const { netMinor: otherMinor } = await paymentOf(deps, other)
    expect(next.netMinor).toBe(otherMinor - netMinor)
    const asked = { clientId: client.clientId, id: next.settlementId, limit: 10 }
    const { entries } = await settlementEntries(deps, asked)
    expect(new Set(entries.map(({ type }) => type))).toStrictEqual(new Set(['payment', 'refund']))
  })

  it.for([
    ['explained', 'an operator closes the case'],
    ['refunded', 'the payment is refunded'],
  ] as const)(
    'is closed once, as %s: %s while the refund is written',
    async ([resolution], { deps, credited, sync }) => {
      const { payment } = credited
      const row = rowOut(deps, { reference_id: payment.paymentId })
      await sync(row)
      const item = await caseOf(deps, row)
      if (item === undefined) throw new Error('there is no case')
      const busy = beforeCommit(deps, () =>
        resolution === 'explained'
          ? deps.table.write(closeSuspense(item, { status: 'resolved', resolution }))
          : bookRefund(deps, payment, 10_000),
      )

      expect(await refund(busy, payment.paymentId, row.transactionId)).toMatchObject({
        status: 200,
      })

      expect(await caseOf(deps, row)).toMatchObject({ status: 'resolved', resolution })
    },
  )

  it.for(['VOIDED', 'REVERSED', 'FAILED'])(
    'is closed when its row is %s later: nothing left the account',
    async (status, { deps, credited, sync, rows }) => {
      const row = rowOut(deps, { reference_id: credited.payment.paymentId })
      await sync(row)
      deps.clock.advance(600)
      rows.splice(
        0,
        1,
        rowOut(deps, { id: row.transactionId, status, reference_id: row.reference }),
      )

      await sync()

      expect(await caseOf(deps, row)).toMatchObject({ status: 'resolved', resolution: 'voided' })
    },
  )

  it('money in, a dispute, or a row that failed or moved nothing, is no case', async ({
    deps,
    credited,
    sync,
  }) => {
    const { paymentId } = credited.payment
    await sync(
      rowOut(deps, {
        reference_id: `about ${paymentId}`,
        cashflow: 'MONEY_IN',
        type: 'TRANSFER_IN',
      }),
      rowOut(deps, { reference_id: `about ${paymentId}`, type: 'CHARGEBACK' }),
      rowOut(deps, { reference_id: paymentId, status: 'FAILED' }),
      rowOut(deps, { reference_id: paymentId, amount: 0, net_amount: 0 }),
    )

    expect(deps.stored.items('SUSPENSE#').filter(({ kind }) => kind === 'case')).toStrictEqual([])
  })
})

// A refund outside the refund API (akash console #2302, opencollective #1936).
it('a row out that names only an order is no case, and refund-payment books it', async ({
  deps,
  credited,
  sync,
}) => {
  const row = rowOut(deps, { reference_id: 'refund order-77' })

  await sync(row)

  expect(await caseOf(deps, row)).toBeUndefined()
  await expectRefund(deps, credited.payment.paymentId, row)
})

it('a row that an adjustment has taken over refunds nothing more', async ({
  deps,
  client,
  credited,
  sync,
}) => {
  const row = rowOut(deps, {})
  await sync(row)
  await adjustBalance(deps, client, 'correction', -60_000, 'C-1', row.transactionId)

  expect(await refund(deps, credited.payment.paymentId, row.transactionId)).toMatchObject({
    body: { message: expect.stringContaining('was taken over') },
  })
})

it('a month’s deduction of disputes, which names none, is told with the cases of its time, and that not all were read', async ({
  deps,
  credited,
  sync,
}) => {
  await send(deps, { reference_id: credited.reference })
  deps.clock.advance(61 * 86_400)
  deps.published.length = 0
  const row = rowOut(deps, { type: 'chargeback_deduction', reference_id: 'disputes-2026-12' })
  await sync(row)
  const suspenseId = `${row.transactionId}#reversed_upstream`
  const dueAt = (await dueAtOf(deps, 'alert', suspenseId)) ?? deps.now()

  await checkSuspenseAlert(deps, { suspenseId, dueAt })

  const told = deps.published.find(({ subject }) => subject === suspenseId)
  expect(told?.message).toContain(`${CASE} (${credited.payment.paymentId}, 100000)`)
  const deduction = await findSuspense(deps, suspenseId)
  const disputes = async () => deduction && (await disputesBefore(deps, deduction))
  await send(deps, { reference_id: credited.reference }, 'dispute.won')
  expect(await disputes()).toBe(' No dispute is known of the two months before.')
  const [item] = deps.stored.items('SUSPENSE#').filter(({ id }) => id === suspenseId)
  for (let at = 0; at < 5_100; at++) await putRaw(deps, { ...item, pk: `SUSPENSE#${at}` })
  expect(await disputes()).toContain('Not all cases were read')
  await putRaw(deps, { ...item, pk: 'SUSPENSE#999', kind: 'case', cause: 'dispute' })
  expect(await disputes()).toMatch(/these disputes .*Not all cases were read/)
})
