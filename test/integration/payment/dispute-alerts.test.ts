import { describe, expect } from 'vitest'
import type { Alert } from '../../../shared/deps.ts'
import { eraseFromPayment } from '../../../shared/inquiry/erase-store.ts'
import type { MoneyRow } from '../../../shared/journal/payment-money.ts'
import { movePayment } from '../../../shared/posting/move-payment.ts'
import { resolveSuspense } from '../../../shared/posting/resolve-suspense.ts'
import { checkSuspenseAlert } from '../../../shared/suspense/record-suspense.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { suspenseKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS, type Timestamp } from '../../../shared/time.ts'
import { aChargeback, aRefund, aVoid, aWin, bookRefund } from '../../support/money-rows.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import {
  creditedPayment,
  expectPayment,
  expectSuspense,
  paymentOf,
  rowNow,
} from '../../support/synced-payment.ts'
import {
  afterFirst,
  interceptTable,
  type TestDeps,
  withoutTopic,
  writesTo,
} from '../../support/test-deps.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'
import { syncTest as it } from '../sync/sync-test.ts'
import { CASE, expectCase, inDays, send, tellWhenDue } from './dispute-news.ts'

/**
 * Goal: operators are told of a dispute in time, with what it cost and whether a refund answers it
 * (design section 14).
 */

function isOfCase({ kind }: { readonly kind: string }) {
  return kind === 'suspense.case'
}

describe('the alerts of a dispute', () => {
  it('says what was refunded before, which answers it', async ({ deps, credited: paid }) => {
    await bookRefund(deps, paid.payment, 40_000, 'refund-1')
    deps.published.length = 0

    await send(deps, { reference_id: paid.reference })

    expect(deps.published[0]?.message).toContain('40000 IDR of the payment went back before')
  })

  it.for([
    ['after', ['dispute', 'row']],
    ['before', ['row', 'dispute']],
  ] as const)(
    'whose chargeback comes %s it names the row, as the list does',
    async ([, order], { deps, credited: paid }) => {
      const row = aChargeback(deps, 100_000)
      const steps = {
        dispute: () => send(deps, { reference_id: paid.reference }),
        row: async () => movePayment(deps, await paymentOf(deps, paid), row),
      }
      for (const step of order) await steps[step]()
      await tellWhenDue(deps)

      expect(deps.published.findLast(isOfCase)?.message).toContain(
        `${row.transactionId} has taken 100000 IDR`,
      )
      const { body } = await invokeAdmin('list-suspense', deps, { kind: 'case' })
      expect(body).toMatchObject({
        data: [
          {
            cause: 'dispute',
            resolution: null,
            due_at: expect.any(String),
            refunded_minor: 0,
            chargebacks: [{ transaction_id: row.transactionId, amount_minor: 100_000 }],
          },
        ],
      })
      await expectCase(deps, { status: 'open' })
    },
  )

  it('whose callback was lost is told by its chargeback, with a day until which it can be answered', async ({
    deps,
    credited: paid,
  }) => {
    const createdAt = addMs(deps.now(), -DAY_MS)
    const row = { ...aChargeback(deps, 100_000, 25_000), createdAt }
    const answerBy = addMs(createdAt, 7 * DAY_MS)

    await movePayment(deps, paid.payment, row)

    const subject = `${row.transactionId}#chargeback#money_went_back`
    await expectSuspense(deps, subject, { status: 'resolved', answerBy })
    expect(deps.published).toMatchObject([{ kind: 'suspense.finding', subject }])
    const told = deps.published[0]?.message
    expect(told).toContain(`the provider's callback was lost: answer until ${answerBy}`)
    expect(told).not.toContain('No action is needed')
  })

  // Twice the amount (hyperswitch #10533), and an alert that asks for nothing (gumroad #6793).
  it('whose chargeback comes after a refund of the whole says what the house lost', async ({
    deps,
    client,
  }) => {
    const paid = await creditedPayment(deps, client, { method: 'qris', channelCode: undefined })
    await bookRefund(deps, paid.payment, 100_000)
    deps.published.length = 0

    await movePayment(deps, await paymentOf(deps, paid), aChargeback(deps, 100_000, 25_000))

    await expectPayment(deps, paid, { reversal: { amountMinor: 100_000 } })
    const told = deps.published.map(({ message }) => message).join()
    expect(told).toContain('so the house bears 125000 IDR')
    expect(told).not.toContain('No action is needed')
  })

  it.for<readonly [string, (deps: TestDeps) => MoneyRow, cause: string]>([
    ['a won dispute', (deps) => aWin(deps, 100_000), 'dispute_won#money_came_back'],
    ['a void refund', (deps) => aVoid(deps, 'refund-1', 100_000), 'reversal#money_came_back'],
    ['a further refund', (deps) => aRefund(deps, 1, 'refund-2'), 'refund#money_went_back'],
  ])(
    'of money that was refunded too: %s changes nothing for the merchant, and says where the money went',
    async ([, rowOf, told], { deps, credited: paid }) => {
      await bookRefund(deps, paid.payment, 100_000, 'refund-1')
      await movePayment(deps, await paymentOf(deps, paid), aChargeback(deps, 100_000))
      deps.published.length = 0
      const row = rowOf(deps)

      await movePayment(deps, await paymentOf(deps, paid), row)

      const [alert] = deps.published
      expect(alert?.subject).toBe(`${row.transactionId}#${told}`)
      const words = told.endsWith('came_back')
        ? ['provider gave back', 'settlement is 0 IDR more. The house keeps it']
        : ['provider took back', 'settlement is 0 IDR less. The house bears it']
      for (const text of words) expect(alert?.message).toContain(text)
    },
  )

  it('says at its reminder what was refunded since', async ({ deps, credited: paid }) => {
    await send(deps, { reference_id: paid.reference })
    await bookRefund(deps, paid.payment, 40_000, 'refund-1')

    await tellWhenDue(deps)

    expect(deps.published.findLast(isOfCase)?.message).toContain(
      '40000 IDR of the payment went back before',
    )
  })

  it('is told again at half its time and a day before its end, and lapses after ninety days', async ({
    deps,
    credited: paid,
  }) => {
    const start = deps.now()
    const answerBy = inDays(deps, 7)
    await send(deps, { reference_id: paid.reference, due_date: answerBy })
    const toldAt: Timestamp[] = []
    while (await tellWhenDue(deps)) {
      toldAt.push(deps.now())
      if (toldAt.length > 9) throw new Error('it never ends')
    }

    expect(toldAt).toStrictEqual([
      addMs(start, 3.5 * DAY_MS),
      addMs(start, 6 * DAY_MS),
      addMs(answerBy, 90 * DAY_MS),
    ])
    const words = deps.published.map(({ message }) => message.split('A customer disputes')[0])
    expect(words).toStrictEqual(['', 'Reminder 1 of 2. ', 'Reminder 2 of 2. '])
    await expectCase(deps, { status: 'resolved', resolution: 'lapsed' })
  })

  it('does not lapse if its news comes while it is closed', async ({ deps, credited: paid }) => {
    const said = () => ({
      reference_id: paid.reference,
      updated_at: deps.now(),
      due_date: inDays(deps, 7),
    })
    await send(deps, said())
    await tellWhenDue(deps)
    await tellWhenDue(deps)
    const dueAt = inDays(deps, 91)
    deps.clock.set(dueAt)
    const raced = afterFirst(deps, writesTo(suspenseKey(CASE)), () => send(deps, said()))

    expect(await checkSuspenseAlert(raced, { suspenseId: CASE, dueAt })).toBe(false)

    await expectCase(deps, { status: 'open', answerBy: inDays(deps, 7) })
  })

  it.for([
    ['still open', []],
    ['under review already', ['dispute.under_review']],
  ] as const)(
    'whose alert was lost with its worker is told by due work: %s',
    async ([, next], { deps, credited: paid }) => {
      await send(withoutTopic(deps), { reference_id: paid.reference })
      for (const event of next) await send(deps, { reference_id: paid.reference }, event)
      expect(deps.published).toHaveLength(0)

      await tellWhenDue(deps)

      expect(deps.published).toMatchObject([{ kind: 'suspense.case' }])
    },
  )
})

it('a dispute that is first heard of under review asks for no answer', async ({
  deps,
  credited,
}) => {
  await send(deps, { reference_id: credited.reference }, 'dispute.under_review')

  expect(deps.published).toMatchObject([
    { kind: 'suspense.case', message: expect.stringContaining('is under review') },
  ])
  expect(deps.published[0]?.message).not.toContain('without an answer')
})

/** Disputes beside one another, beside an erasure, and that begin again (design section 14). */

it('one without an amount and a day balances', async ({ deps, credited }) => {
  await send(deps, { id: 'mi-1', reference_id: credited.reference, amount: null })

  const { dispute } = await paymentOf(deps, credited)
  expect(dispute).toMatchObject({ caseId: 'mi-1' })
  expect(dispute).not.toHaveProperty('amountMinor')
})

it('the one that must be answered stays shown while another ends', async ({ deps, credited }) => {
  const about = { reference_id: credited.reference }
  await send(deps, { id: 'mi-1', ...about }, 'dispute.under_review')
  await send(deps, { id: 'mi-2', ...about })

  await send(deps, { id: 'mi-1', ...about }, 'dispute.won')

  await expectPayment(deps, credited, { dispute: { caseId: 'mi-2' } })
  await expectSuspense(deps, 'mi-1', { state: 'won', status: 'resolved' })
})

it('one that must be answered again is open again', async ({ deps, credited }) => {
  const about = { id: 'mi-1', reference_id: credited.reference, updated_at: deps.now() }
  await send(deps, about)
  const closed = { suspenseId: 'mi-1', operator: 'ana', resolution: 'answered' } as const
  await resolveSuspense(deps, closed)
  await send(deps, about, 'dispute.under_review')
  await expectSuspense(deps, 'mi-1', { status: 'resolved' })

  await send(deps, { ...about, updated_at: inDays(deps, 1) })

  const item = await findSuspense(deps, 'mi-1')
  expect(item).toMatchObject({ status: 'open', state: 'action_required' })
  expect(item).not.toHaveProperty('resolution')
})

it.for([
  ['is open again', 'dispute.won', undefined, 7],
  ['gets another day', undefined, 'dispute.due_date_approaching', 4],
] as const)(
  'one that %s while its news is told keeps its reminders',
  async ([, told, next, days], { deps, credited }) => {
    const about = { id: 'mi-1', reference_id: credited.reference, due_date: inDays(deps, 7) }
    await send(deps, { ...about, updated_at: deps.now() })
    const updated_at = addMs(deps.now(), 2_000)
    const publish = async (alert: Alert) => {
      await send(deps, { ...about, due_date: inDays(deps, days), updated_at }, next)
      await deps.alerts.publish(alert)
    }
    const busy = { ...deps, alerts: { publish } }

    await send(busy, { ...about, updated_at: addMs(deps.now(), 1_000) }, told)

    await expectSuspense(deps, 'mi-1', { state: 'action_required' })
    expect(await dueAtOf(deps, 'alert', 'mi-1')).toBe(inDays(deps, days / 2))
  },
)

it('an erasure and a dispute refuse each other’s old reading', async ({ deps, credited, sync }) => {
  const about = { id: 'mi-1', reference_id: credited.reference }
  const before = await paymentOf(deps, credited)
  const erase = () => deps.table.write(eraseFromPayment(before, deps.now()))
  const other = () => send(deps, { ...about, id: 'mi-2' })
  const changes = [erase, () => sync(rowNow(deps, credited)), other]
  let writes = 0
  const busy = interceptTable(deps, {
    before: async ({ name }) => name === 'transact' && (await changes[writes++]?.()),
  })

  await send(busy, about)

  // The event of the first try names the customer, and that of the second the estimated fee.
  expect(writes).toBe(4)
  await expectPayment(deps, credited, { dispute: { caseId: 'mi-1' } })
  const [event] = deps.stored.items('EVENT#').filter(({ sk }) => String(sk).includes('mi-1'))
  expect(event).toBeDefined()
  expect((await erase()).applied).toBe(false)
})
