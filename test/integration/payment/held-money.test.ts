/**
 * Goal: a merchant is told of money that a customer paid for its payment and that is not credited,
 * and of what became of it (design section 4). The payment shows it, and an event announces it, in
 * the transaction that writes or resolves the item.
 */
import { describe, expect } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-client.ts'
import { paymentIdForKey } from '../../../shared/ids.ts'
import { holdMoney } from '../../../shared/payment/held-money.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { toPaymentDto } from '../../../shared/payment/payment-dto.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { bookSuspense } from '../../../shared/posting/house-journal.ts'
import { resolveSuspense } from '../../../shared/posting/resolve-suspense.ts'
import { recordSuspense } from '../../../shared/suspense/record-suspense.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { aHouseRow, someHeldMoney } from '../../support/money-rows.ts'
import { eventsOf, loseAnswer, OVO_REQUEST, payFirst } from '../../support/payment-builders.ts'
import { changeRow } from '../../support/tampering.ts'
import { beforeCommit, interceptTable, type TestDeps } from '../../support/test-deps.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'
import { withApproval } from '../../support/with-approval.ts'
import { send } from './dispute-news.ts'
import { aScene, paymentTest } from './payment-test.ts'
import { refundOf } from './suspense-test.ts'

/** `shown`: what the merchant sees. `told`: the webhooks of held money, by status. */
const it = paymentTest.extend('held', ({ deps, client, payment, scene }) => {
  const payAgain = async (amount = 60_000) => {
    const providerPaymentId = deps.provider.pay(payment.paymentRequestId, amount)
    deps.clock.advance(1)
    await scene.notify({ providerPaymentId })
    return providerPaymentId
  }
  const subscribe = (eventTypes = ['*', 'payment.held']) =>
    storedEndpoint(deps, { clientId: client.clientId, eventTypes })
  return {
    payAgain,
    shown: async () => toPaymentDto(await scene.reread()).held,
    told: async () => {
      const events = await eventsOf(deps, payment)
      return events
        .filter((event) => event?.type === 'payment.held' && event.endpointIds.length > 0)
        .map((event) => String(event?.name.split('#').at(-1)))
        .toSorted((one, other) => (one < other ? -1 : 1))
    },
    subscribe,
    paySecond: async (eventTypes?: string[]) => {
      await subscribe(eventTypes)
      scene.pay()
      await scene.notify()
      return payAgain()
    },
  }
})

async function refund(deps: TestDeps, suspenseId: string, amount: number) {
  await refundOf(deps, await itemOf(deps, suspenseId), `refund_${amount}`, amount)
}

async function itemOf(deps: TestDeps, suspenseId: string) {
  const item = await findSuspense(deps, suspenseId)
  if (item === undefined) throw new Error('no such item')
  return item
}

async function settle(deps: TestDeps, suspenseId: string) {
  const row = aHouseRow(deps, `txn_${suspenseId}`, 60_000)
  await bookSuspense(deps, await itemOf(deps, suspenseId), row)
}

it('a wrong amount shows on the failed payment how much came, with its own event', async ({
  deps,
  scene,
  payment,
  held,
}) => {
  await held.subscribe()
  scene.pay(90_000)
  await scene.notify()

  expect(await scene.reread()).toMatchObject({ status: 'failed', failureReason: 'wrong_amount' })
  expect(await held.shown()).toStrictEqual([
    { amount_minor: 90_000, cause: 'wrong_amount', status: 'open', at: deps.now() },
  ])
  expect(await held.told()).toStrictEqual(['open'])
  const bodies = (await eventsOf(deps, payment)).map((event) => JSON.parse(event?.body ?? ''))
  expect(bodies.map(({ data }) => data.status)).toStrictEqual(['failed', 'failed'])
})

it.for([
  [
    { method: 'virtual_account', channelCode: 'BCA' },
    /from our bank\. .*Before our bank pays it, run/,
  ],
  [{ method: 'ewallet', channelCode: 'DANA' }, /in the provider's dashboard \(30 days\)/],
] as const)('its alert says how its channel gives it back: %j', async ([channel, advice]) => {
  const { deps, pay, notify } = await aScene(channel)
  pay(90_000)
  await notify()

  expect(deps.published).toMatchObject([{ message: expect.stringMatching(advice) }])
})

// Public report: qna #736.
it('money that comes after the expiry is shown, and again when it went back', async ({
  deps,
  payment,
  scene,
  held,
}) => {
  await held.subscribe()
  scene.request({ status: 'expired' })
  await scene.notify()
  await refund(deps, await held.payAgain(payment.notionalMinor), payment.notionalMinor)

  expect(await scene.reread()).toMatchObject({ status: 'expired' })
  expect(await held.shown()).toMatchObject([
    { amount_minor: payment.notionalMinor, cause: 'payment_not_pending', status: 'refunded' },
  ])
  expect(await held.told()).toStrictEqual(['open', 'refunded'])
})

it('money of a push that the customer confirms after its cancel is shown', async () => {
  const { deps, cancel, pay, notify, reread } = await aScene(OVO_REQUEST)
  deps.provider.answer('cancelRequest', { kind: 'not_cancellable' })
  await cancel()

  await notify({ providerPaymentId: pay() })

  expect(await reread()).toMatchObject({
    status: 'cancelled',
    held: [{ cause: 'payment_not_pending', status: 'open' }],
  })
})

it('a second capture is shown once, however often its callback comes', async ({ scene, held }) => {
  const providerPaymentId = await held.paySecond()
  await Promise.all([1, 2, 3].map(() => scene.notify({ providerPaymentId })))

  expect(await held.shown()).toMatchObject([{ amount_minor: 60_000, cause: 'second_capture' }])
  expect(await held.told()).toStrictEqual(['open'])
})

it('a wrong amount is held and told, whatever dispute has named its capture before', async ({
  deps,
  scene,
  payment,
  held,
}) => {
  const id = scene.pay(90_000)
  const { reference } = deps.provider.requestOf(payment.paymentRequestId)
  deps.provider.answer('getRequest', { kind: 'not_found' })
  await send(deps, { id, reference_id: reference })

  await scene.notify({ providerPaymentId: id })

  expect(await held.shown()).toMatchObject([{ amount_minor: 90_000, cause: 'wrong_amount' }])
  expect(deps.published).toMatchObject([
    { kind: 'suspense.case' },
    { kind: 'suspense.money', subject: id },
  ])
})

it('money is never taken for held while another item has its id', async ({
  deps,
  scene,
  payment,
}) => {
  const about = { cause: 'wrong_amount', payment } as const
  const item = someHeldMoney(deps, scene.pay(90_000), 90_000, about)
  await recordSuspense(deps, { ...item, kind: 'case', cause: 'dispute' })

  const message = 'an item that is not money has the id of money'
  await expect(holdMoney(deps, item)).rejects.toThrow(message)
  const end = { status: 'failed', source: 'callback', held: item } as const
  await expect(closePayment(deps, payment, end)).rejects.toThrow(message)
})

it('only endpoints that name the event get it', async ({ held }) => {
  await held.paySecond(['*'])

  expect(await held.shown()).toHaveLength(1)
  expect(await held.told()).toStrictEqual([])
})

describe('what became of held money is shown and told', () => {
  it('when the provider has refunded all of it, not before', async ({ deps, held }) => {
    const suspenseId = await held.paySecond()
    await settle(deps, suspenseId)
    await refund(deps, suspenseId, 20_000)
    expect(await held.told()).toStrictEqual(['open'])

    await refund(deps, suspenseId, 40_000)

    expect(await held.shown()).toMatchObject([{ amount_minor: 60_000, status: 'refunded' }])
    expect(await held.told()).toStrictEqual(['open', 'refunded'])
  })

  it.for([
    ['refunded_by_bank', 'refunded'],
    ['written_off', 'written_off'],
  ] as const)('when an operator has %s it', async ([resolution, status], { deps, held }) => {
    const suspenseId = await held.paySecond()
    await settle(deps, suspenseId)

    const input = { suspenseId, operator: 'ayu', resolution, notes: 'BCA 17' }
    await withApproval(deps, () => resolveSuspense(deps, input))

    expect(await held.shown()).toMatchObject([{ status }])
    expect(await held.told()).toStrictEqual(['open', status])
  })
})

it('the payment shows the last ten in order, and tells of older ones', async ({
  deps,
  payment,
  held,
}) => {
  deps.clock.advance(3_600)
  const oldest = await held.paySecond()
  for (let at = 0; at < 11; at++) {
    const suspenseId = await held.payAgain(61_000 + at)
    if (at === 5) await refund(deps, suspenseId, 61_005)
  }
  await refund(deps, oldest, 60_000)

  const amounts = (await held.shown())?.map((one) => one.amount_minor)
  expect(amounts).toStrictEqual(Array.from({ length: 10 }, (_, at) => 61_001 + at))
  expect(await held.told()).toContain('refunded')
  expect(await auditLedger(deps, payment.clientId)).toMatchObject({ differences: [] })
})

describe('the transaction of held money', () => {
  it('is tried again when the payment changes between read and write', async ({
    deps,
    scene,
    payment,
    held,
  }) => {
    scene.pay()
    await scene.notify()
    const first = deps.provider.pay(payment.paymentRequestId, 60_000)
    const racing = beforeCommit(deps, () => held.payAgain(70_000))

    await scene.notify({ providerPaymentId: first }, racing)

    expect(await held.shown()).toHaveLength(2)
    expect(deps.published).toHaveLength(2)
  })

  it('is tried again when its payment becomes visible between read and write', async ({
    deps,
    client,
  }) => {
    await loseAnswer(deps, client)
    const paymentId = paymentIdForKey(client.clientId, 'key-1')
    const { providerPaymentId, paymentRequestId } = payFirst(deps)
    const wrong = deps.provider.pay(paymentRequestId, 90_000)
    const slow = interceptTable(deps, { after: () => deps.clock.pass(1) })
    const credit = () => applyProviderNews(slow, { providerPaymentId }, 'sync')
    const racing = beforeCommit(deps, credit)

    await applyProviderNews(racing, { providerPaymentId: wrong }, 'sync')

    const stored = await findStoredPayment(deps, paymentId)
    expect(stored).toMatchObject({
      status: 'succeeded',
      held: [{ suspenseId: wrong, amountMinor: 90_000, cause: 'wrong_amount' }],
    })
    // Its pointers have its time, although the clock went on between the writes.
    expect(await auditLedger(deps, client.clientId)).toMatchObject({ differences: [] })
  })

  it.for([
    ['beside its payment', 'succeeded'],
    ['with the failure of its payment', 'failed'],
  ] as const)(
    '%s has no second event when a restore brought back the event alone',
    async ([, status], { deps, scene, payment, held }) => {
      const id = status === 'failed' ? scene.pay(90_000) : await held.paySecond()
      if (status === 'failed') {
        await held.subscribe()
        await holdMoney(deps, someHeldMoney(deps, id, 90_000, { cause: 'wrong_amount', payment }))
      }
      await changeRow(deps, paymentKey(payment.paymentId), { remove: ['held'] })
      // As with money held before its payment is visible.
      expect(await auditLedger(deps, payment.clientId)).toMatchObject({ differences: [] })

      await scene.notify({ providerPaymentId: id })

      expect(await scene.reread()).toMatchObject({ status, held: [{ suspenseId: id }] })
      expect(await held.told()).toStrictEqual(['open'])
    },
  )
})
