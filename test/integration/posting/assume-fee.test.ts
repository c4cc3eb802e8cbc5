import { describe, expect } from 'vitest'
import { handler as worker } from '../../../functions/queue/settle-client.ts'
import { minor } from '../../../shared/money.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { NOT_SETTLED, settledRow } from '../../support/fake-provider.ts'
import { handOver } from '../../support/operator-actions.ts'
import {
  aSucceededPayment,
  aTransaction,
  entriesIn,
  feeOf,
  post,
  storeOpen,
  succeededPayment,
} from '../../support/paid-builders.ts'
import { settle, settlementsOf, sweep, trigger } from '../../support/settlement-builders.ts'
import { expectFinding } from '../../support/synced-payment.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { beforeCommit, type TestDeps } from '../../support/test-deps.ts'
import { it } from './overdue-test.ts'

const IN_TRANSIT = { providerMinor: 0, transitMinor: 96_000, costMinor: 0, otherMinor: 0 }

const ASSUMED = [4_000, 95_900, 'assumed']
const ESTIMATED = [4_000, 95_900, 'estimated']

async function expectFee(deps: TestDeps, payment: Payment, fee: readonly unknown[]) {
  expect(await feeOf(deps, payment)).toStrictEqual(fee)
}

const NO_ROW = { kind: 'found', value: { transactions: [], hasMore: false } } as const

/** The provider says that it has no row of one payment, and answers about no other. */
function answerOnly(
  { clock, provider }: TestDeps,
  { capture }: Payment,
  reason: 'refused' | 'server_error',
  seconds = 0,
) {
  provider.script('listTransactions', async ({ providerPaymentId }) => {
    clock.advance(seconds)
    return providerPaymentId === capture?.providerPaymentId
      ? NO_ROW
      : { kind: 'unanswered', reason }
  })
}

describe('a payment that is open for seven days (design section 4, "Sweep and settle")', () => {
  it.for([
    ['has a row that is not settled', [NOT_SETTLED], 'fee_assumed', IN_TRANSIT],
    [
      'has a row of another amount',
      [{ amountMinor: minor(99_999) }],
      'row_contradicts',
      // 95,559 instead of 96,000.
      { providerMinor: 95_559, transitMinor: 0, otherMinor: -441 },
    ],
    ['shows no row', [], 'transaction_missing', IN_TRANSIT],
  ] as const)(
    'is posted at its estimate if the provider %s',
    async ([, rows, cause, legs], { deps, client, overdue }) => {
      for (const fields of rows)
        deps.provider.transactions.push(settledRow(aTransaction(overdue), deps.now(), fields))
      deps.clock.set(addMs(deps.now(), -1))
      expect(await sweep(deps, client)).toBeUndefined()
      deps.clock.pass(1)

      expect(await sweep(deps, client)).toMatchObject({
        feeMinor: 4_000,
        netMinor: 95_900,
        unprovenMinor: 95_900,
      })
      await expectFee(deps, overdue, ASSUMED)
      await expectFinding(deps, overdue.paymentId, cause, { status: 'open' })
      expect(deps.published).toMatchObject([
        { kind: 'suspense.finding', subject: `${overdue.paymentId}#${cause}` },
      ])
      expect(await entriesIn(deps, client)).toMatchObject([{ markupMinor: 100, ...legs }])
    },
  )

  it.for(['unreachable', 'server_error', 'rate_limited', 'misconfigured', 'refused'] as const)(
    'stays open, delays no other payment, and is told after 9 days, if the provider is %s',
    async (reason, { deps, client, overdue }) => {
      await aSucceededPayment(deps, client, {
        notionalMinor: 50_000,
        paidAt: addMs(deps.now(), -DAY_MS),
      })
      deps.provider.silence('listTransactions', reason)

      expect(await sweep(deps, client)).toMatchObject({ paymentCount: 1, netMinor: 45_950 })
      expect(deps.published).toStrictEqual([])
      deps.clock.pass(2 * DAY_MS + 1)
      await sweep(deps, client)
      await expectFee(deps, overdue, ESTIMATED)
      deps.provider.heal('listTransactions')

      expect(await sweep(deps, client)).toMatchObject({ paymentCount: 1, netMinor: 95_900 })
      expect(deps.published).toMatchObject([
        { subject: `${overdue.paymentId}#open#transaction_missing` },
        { subject: `${overdue.paymentId}#transaction_missing` },
      ])
    },
  )

  it('is posted although the list of open payments has an altered time', async ({
    deps,
    client,
    overdue,
  }) => {
    const older = succeededPayment(client, { paidAt: addMs(deps.now(), -8 * DAY_MS) })
    await storeOpen(deps, [older])
    const row = await rawItem(deps, paymentKey(older.paymentId))
    await putRaw(deps, { ...row, open_at: '2026-11-1' })

    expect(await sweep(deps, client)).toMatchObject({ paymentCount: 1, netMinor: 95_900 })

    await expectFee(deps, overdue, ASSUMED)
    const fields = { kind: 'payment', id: older.paymentId }
    expect(deps.lines).toContainEqual(expect.objectContaining({ code: 'row.unreadable', fields }))
    await expect(trigger(deps, client)).rejects.toThrow('nothing to settle')
    await putRaw(deps, row)
  })

  it.for([
    ['asked', 0, 2],
    ['asked', 4, 4],
    ['read', 0, 2],
  ] as const)(
    'is posted although fifty older payments cannot be %s, after %d s each: by %d runs',
    async ([failure, seconds, runCount], { deps, client, overdue }) => {
      const brokenPayments = Array.from({ length: 50 }, () =>
        succeededPayment(client, { paidAt: addMs(deps.now(), -8 * DAY_MS) }),
      )
      await storeOpen(deps, brokenPayments)
      const rows = await Promise.all(
        brokenPayments.map(({ paymentId }) => rawItem(deps, paymentKey(paymentId))),
      )
      if (failure === 'read')
        for (const row of rows) await putRaw(deps, { ...row, details: 'none' })
      answerOnly(deps, overdue, 'refused', seconds)

      await settle(deps, client)
      let runs = 1
      for (const { message } of deps.sent) {
        await handOver(worker, deps, [message.body])
        runs++
      }

      expect([runs, (await settlementsOf(deps, client)).length]).toStrictEqual([runCount, 1])
      await expectFee(deps, overdue, ASSUMED)
      for (const row of rows) await putRaw(deps, row)
    },
  )

  it.for([
    ['at once', 'five older and five younger', 5, 5],
    ['a day later', 'fifty older', 50, 0],
  ] as const)(
    'is posted %s although %s payments are never answered',
    async ([when, , older, younger], { deps, client, overdue }) => {
      const open = (length: number, days: number) =>
        Array.from({ length }, () =>
          succeededPayment(client, { paidAt: addMs(deps.now(), -days * DAY_MS) }),
        )
      deps.clock.pass(2 * DAY_MS)
      await storeOpen(deps, [...open(older, 10), ...open(younger, 8)])
      answerOnly(deps, overdue, 'server_error')

      await sweep(deps, client)
      if (when === 'a day later') {
        await expectFee(deps, overdue, ESTIMATED)
        deps.clock.pass(DAY_MS)
        await sweep(deps, client)
      }

      await expectFee(deps, overdue, ASSUMED)
      expect(deps.sent).toStrictEqual([])
    },
  )

  it('may be posted by another run at the same time; this run continues', async ({
    deps,
    client,
    overdue,
  }) => {
    const paidLater = (_: unknown, at: number) =>
      succeededPayment(client, { paidAt: addMs(deps.now(), at * 100 - 7 * DAY_MS) })
    const [last, ...others] = Array.from({ length: 6 }, paidLater).toReversed()
    await storeOpen(deps, [...others, last as Payment])
    deps.clock.advance(2)
    const raced = beforeCommit(deps, () =>
      Promise.all([overdue, ...others].map((payment) => post(deps, payment))),
    )

    expect(await sweep(raced, client)).toMatchObject({ paymentCount: 7 })
    await expectFee(deps, last as Payment, ASSUMED)
    const subject = `${last?.paymentId}#transaction_missing`
    expect(deps.published).toMatchObject([{ subject }])
  })
})

describe('many payments that are open for seven days', () => {
  const overdueOf = async (
    deps: TestDeps,
    client: Parameters<typeof succeededPayment>[0],
    length: number,
  ) => {
    const open = Array.from({ length }, () => succeededPayment(client, { paidAt: deps.now() }))
    await storeOpen(deps, open)
    deps.clock.pass(7 * DAY_MS)
  }

  it.for([
    ['rate_limited', 5],
    ['misconfigured', 5],
    ['server_error', 50],
  ] as const)(
    'wait for the next day if the provider is %s: %d calls',
    async ([reason, calls], { deps, client }) => {
      await overdueOf(deps, client, 51)
      deps.provider.silence('listTransactions', reason)

      await settle(deps, client)

      expect(deps.provider.countOf('listTransactions')).toBe(calls)
      expect(deps.sent).toStrictEqual([])
    },
  )

  it('are asked about fifty at a time; the next message continues', async ({ deps, client }) => {
    await overdueOf(deps, client, 51)

    expect((await settle(deps, client)).settlement).toMatchObject({ paymentCount: 50 })
    expect(deps.sent).toMatchObject([
      {
        queue: 'settlements',
        message: { body: { client_id: client.clientId }, delaySeconds: 0, group: client.clientId },
      },
    ])
    expect(await sweep(deps, client)).toMatchObject({ paymentCount: 1 })
  })

  it('are in two settlements at most, however many messages continue', async ({ deps, client }) => {
    await overdueOf(deps, client, 151)

    await settle(deps, client)
    for (let sent = deps.sent.pop(); sent; sent = deps.sent.pop())
      await handOver(worker, deps, [sent.message.body])

    expect(await settlementsOf(deps, client)).toMatchObject([
      { paymentCount: 101 },
      { paymentCount: 50 },
    ])
  })

  it('leave time to settle if an answer takes 4 s; the next message continues', async ({
    deps,
    client,
  }) => {
    await overdueOf(deps, client, 20)
    deps.provider.script('listTransactions', async () => {
      deps.clock.advance(4)
      return NO_ROW
    })

    expect((await settle(deps, client)).settlement).toMatchObject({ paymentCount: 15 })
    expect(deps.sent).toMatchObject([{ queue: 'settlements' }])
    expect(await sweep(deps, client)).toMatchObject({ paymentCount: 5 })
  })
})

it.for(['reversed', 'failed'] as const)(
  'a payment stays open if the provider says that its row is %s: the sync acts on the row',
  async (status, { deps, client, overdue }) => {
    deps.provider.transactions.push({ ...aTransaction(overdue), status })

    expect(await sweep(deps, client)).toBeUndefined()

    await expectFee(deps, overdue, ESTIMATED)
    expect(await entriesIn(deps, client)).toStrictEqual([])
  },
)

it('a payment is posted by a row that stands beside a failed row of the same money', async ({
  deps,
  client,
  overdue,
}) => {
  const row = aTransaction(overdue)
  const failedRow = { ...row, transactionId: 'txn-failed', status: 'failed' } as const
  deps.provider.transactions.push(failedRow, row)

  expect(await sweep(deps, client)).toMatchObject({ paymentCount: 1 })

  await expectFee(deps, overdue, [4_000, 95_900, 'actual'])
})
