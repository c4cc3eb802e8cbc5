/** Goal: a row that the provider shows again after the books undid it is told. */
import { expect, vi } from 'vitest'
import { drainSlot } from '../../../shared/due-work/drain-slot.ts'
import { DUE_ALERTS } from '../../../shared/due-work/due-kinds.ts'
import { minor } from '../../../shared/money.ts'
import { bookUnmatchedRow } from '../../../shared/posting/house-journal.ts'
import { refundPayment } from '../../../shared/posting/refund-payment.ts'
import { suspenseKey } from '../../../shared/table/keys.ts'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import { settledRow } from '../../support/fake-provider.ts'
import { aHouseRow } from '../../support/money-rows.ts'
import { aLoneClient } from '../../support/settlement-builders.ts'
import { creditedPayment, type PaidUpstream, rowNow } from '../../support/synced-payment.ts'
import { alter, rawItem } from '../../support/tampering.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'
import { resolve } from '../payment/suspense-test.ts'
import { recount } from '../recount/torn-world.ts'
import { heldTest, refundFields } from './held-money.ts'

const it = heldTest.extend('shown', async ({ deps, client, rows, credited, hold, sync }) => {
  const own = rowNow(deps, credited)
  const { heldRow, item } = await hold('second_capture')
  await sync(own)
  const out = { type: 'account', transfer: 'withdrawal', providerMinor: minor(-100_000) } as const
  const kinds = {
    'the own row of a payment': own,
    'the own row of an open payment': rowNow(deps, await creditedPayment(deps, client)),
    'a refund of a payment': settledRow(credited, deps.now(), refundFields),
    'the own row of held money': heldRow,
    'a refund of held money': settledRow(heldRow, deps.now(), refundFields),
    'a second row of a payment': { ...own, transactionId: 'txn_second' },
    'a withdrawal': settledRow({ providerPaymentId: '', reference: 'out' }, deps.now(), out),
  }
  const show = async (
    kind: keyof typeof kinds,
    ...statuses: readonly ('success' | 'reversed' | 'failed')[]
  ) => {
    const row = kinds[kind]
    // A payment keeps the time of the void by the provider's clock, which may be late.
    const isMovement = kind.startsWith('the own row of a') || kind === 'a refund of a payment'
    const lateMs = isMovement ? 11 * MINUTE_MS : 0
    for (const status of statuses) {
      deps.clock.advance(600)
      const before = rows.filter(({ transactionId }) => transactionId !== row.transactionId)
      deps.published.length = 0
      const updatedAt = addMs(deps.now(), -lateMs)
      rows.splice(0, rows.length, ...before, { ...row, status, updatedAt })
      await sync()
    }
    return row
  }
  return { show, item }
})

it.for([
  ['the own row of a payment', 'reversed'],
  ['a refund of a payment', 'reversed'],
  ['the own row of held money', 'reversed'],
  ['a refund of held money', 'failed'],
  ['a second row of a payment', 'reversed'],
  ['a withdrawal', 'failed'],
] as const)(
  '%s that stands again after it was %s is told once',
  async ([kind, undone], { deps, shown }) => {
    const { transactionId } = await shown.show(kind, 'success', undone, 'success')
    expect(deps.published).toMatchObject([
      { subject: `${transactionId}#again#transaction_unexplained` },
    ])

    await shown.show(kind, 'success')

    expect(deps.published).toStrictEqual([])
  },
)

function refundByBank(deps: TestDeps, { payment: { paymentId } }: PaidUpstream) {
  const input = { operator: 'ayu', paymentId, amountMinor: minor(100), bankReference: 'BCA17' }
  return refundPayment(deps, input)
}

const STANDS_AGAIN = {
  code: 'conflict',
  details: { actionHint: expect.stringContaining('it stands again') },
}

it('held money whose refund became void is told with what has gone back', async ({
  deps,
  client,
  shown,
}) => {
  const row = await shown.show('a refund of held money', 'success', 'failed')

  for (let run = 0; run < 2; run++)
    await drainSlot(deps, DUE_ALERTS, { slot: 0, part: 0, parts: 1 })

  const message = expect.stringContaining('has refunded 0 IDR of this money')
  expect(deps.published).toMatchObject([{ subject: row.providerPaymentId, message }])
  // A restore has torn the item from its entry.
  const torn = { status: 'resolved', resolution: 'refunded', refunded_minor: 100_000 }
  await alter(deps, suspenseKey(row.providerPaymentId), torn)
  for (let time = 0; time < 2; time++) await recount(deps, client)
  expect(await rawItem(deps, suspenseKey(row.providerPaymentId))).toMatchObject({
    status: 'open',
    due_at: expect.any(String),
  })
})

it('a refund of held money that becomes void while an alert is sent is told too', async ({
  deps,
  hold,
  showAnew,
  syncAfter,
}) => {
  const { heldRow } = await hold('second_capture')
  const back = () => settledRow(heldRow, deps.now(), { type: 'return', amountMinor: minor(30_000) })
  const refunds = [back(), back()]
  await syncAfter(600, ...refunds)
  const endRefund = () => {
    for (const row of refunds.splice(0, 1)) showAnew(row, { status: 'failed' })
    return syncAfter(600)
  }
  await endRefund()
  const publish = vi.fn().mockImplementationOnce(endRefund)

  for (let run = 0; run < 2; run++)
    await drainSlot({ ...deps, alerts: { publish } }, DUE_ALERTS, { slot: 0, part: 0, parts: 1 })

  expect(publish).toHaveBeenCalledTimes(2)
})

it('our bank refunds no held money whose refund stands again', async ({ deps, shown }) => {
  const { providerPaymentId: suspenseId } = await shown.show(
    'a refund of held money',
    'success',
    'failed',
    'success',
  )
  expect(await shown.item()).toMatchObject({ status: 'open' })

  await expect(resolve(deps, { suspenseId })).rejects.toMatchObject(STANDS_AGAIN)
})

it.for(['the own row of an open payment', 'a refund of a payment'] as const)(
  '%s that was first read after its void, and then stands, is told',
  async (kind, { deps, shown }) => {
    const { transactionId } = await shown.show(kind, 'reversed', 'success')

    expect(deps.published).toMatchObject([
      { subject: `${transactionId}#again#transaction_unexplained` },
    ])
  },
)

it.for([['reversed'], ['success', 'reversed']] as const)(
  'our bank refunds no payment whose void refund stands: after %j',
  async (before, { deps, credited, shown }) => {
    await shown.show('a refund of a payment', ...before, 'success')

    await expect(refundByBank(deps, credited)).rejects.toMatchObject(STANDS_AGAIN)
  },
)

const FORMS = ['success', 'unknown', 'of no known type', 'unreadable', 'on a second page', 'unread']
it.for(FORMS)(
  'our bank refunds no payment whose refund names it by its reference alone: %s',
  async (form, { deps, rows, credited, sync }) => {
    await sync(rowNow(deps, credited))
    const ids = { providerPaymentId: '', reference: credited.reference }
    const hasMore = form === 'unread'
    const isMissing = hasMore || form === 'unreadable'
    const value = { transactions: [], hasMore, ...(!hasMore && { unreadableIds: ['txn_1'] }) }
    if (isMissing) deps.provider.answer('listTransactions', { kind: 'found', value })
    else
      rows.push(
        settledRow(ids, deps.now(), {
          ...refundFields,
          ...(form === 'of no known type' && { type: 'unknown' }),
          ...(form === 'unknown' && { status: form }),
        }),
      )
    // The provider shows the newest rows first.
    const newer = Array.from({ length: form === 'on a second page' ? 60 : 0 }, () =>
      settledRow(ids, deps.now(), { type: 'return', status: 'failed' }),
    )
    rows.push(...newer)

    await expect(refundByBank(deps, credited)).rejects.toMatchObject({
      code: isMissing ? 'server_error' : 'conflict',
      details: { actionHint: expect.stringContaining('Give nothing back') },
    })
  },
)

it('our bank may refund a payment while another capture, which names it, is refunded', async ({
  deps,
  credited,
  rows,
  sync,
}) => {
  await sync(rowNow(deps, credited))
  const ids = { providerPaymentId: 'py-other', reference: credited.reference }
  rows.push(settledRow(ids, deps.now(), refundFields))

  await expect(refundByBank(deps, credited)).rejects.toThrow('needs an approval of exactly')
})

it('a refund by a transfer is told to the merchant at once', async () => {
  const { deps, client } = await aLoneClient()
  const { payment } = await creditedPayment(deps, client)
  await storedEndpoint(deps, { clientId: client.clientId, eventTypes: ['payment.reversed'] })
  await bookUnmatchedRow(deps, aHouseRow(deps, 'txn-transfer', -30_000))
  const { length } = deps.sent

  const amounts = { amountMinor: minor(30_000), providerTransactionId: 'txn-transfer' }
  await refundPayment(deps, { ...payment, ...amounts, operator: 'ana' })

  expect(deps.sent.slice(length)).toMatchObject([{ queue: 'webhooks' }])
})

it('our bank reads on after a page of unreadable rows, and refunds nothing', async ({
  deps,
  credited,
}) => {
  const asked: unknown[] = []
  deps.provider.script('listTransactions', async ({ afterId }) => {
    return {
      kind: 'found',
      value: {
        transactions: [],
        unreadableIds: ['txn_1'],
        hasMore: asked.push(afterId) === 1,
        afterId: 'txn_1',
      },
    }
  })

  await expect(refundByBank(deps, credited)).rejects.toMatchObject({ code: 'server_error' })
  expect(asked).toStrictEqual([undefined, 'txn_1'])
})

it.for(['second_capture', 'unknown_reference'] as const)(
  'our bank refunds no held money (%s) whose refund names it by its reference alone',
  async (cause, { deps, hold, syncAfter, rows }) => {
    const { heldRow } = await hold(cause)
    const ids = { providerPaymentId: '', reference: heldRow.reference }
    rows.push(settledRow(ids, deps.now(), refundFields))
    const item = { suspenseId: heldRow.providerPaymentId }

    await expect(resolve(deps, item)).rejects.toMatchObject({ code: 'conflict' })

    // The refund is of other money.
    await syncAfter(600)
    expect(await resolve(deps, item)).toMatchObject({ resolution: 'refunded_by_bank' })
  },
)
