/*
 * The gateway keeps a callback that is faster than the provider's own read side. A callback that
 * can change nothing costs no call.
 */
import { describe, expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { refreshPayment } from '../../../shared/payment/news/refresh-payment.ts'
import { findStoredPayment, recordCancelRequest } from '../../../shared/payment/payment-store.ts'
import type { ProviderRequest } from '../../../shared/provider/provider.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import { CALLBACK, CALLBACK_TOKEN, call } from '../../support/api-event.ts'
import { aCreating, aPendingPayment, checkWhenDue } from '../../support/payment-builders.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { interceptTable, memoryDeps, recordTable, withoutQueue } from '../../support/test-deps.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'
import { aHiddenPayment } from './hidden-payment.ts'
import { paymentTest as it } from './payment-test.ts'

const PR_CREATING = 'pr-73762759-0c9b-8178-b48f-0480d694b643'

describe('a callback about a capture that the provider does not show yet', () => {
  it.each(['missing', 'open', 'unreachable'] as const)(
    'answers 500, checks at once and every two minutes while its capture is %s, then credits it',
    async (visibility) => {
      const { deps, providerPaymentId, captureBody, showMoney, check, reread, ledger } =
        await aHiddenPayment(visibility)
      const callback = { body: captureBody(), headers: { 'x-callback-token': CALLBACK_TOKEN } }

      expect(await call(deps, CALLBACK, callback)).toMatchObject({ status: 500 })

      expect(await reread()).toMatchObject({ status: 'pending', dueAt: deps.now() })
      const reason = visibility === 'unreachable' ? 'unanswered' : 'not_shown'
      expect(await check()).toBe(reason)
      expect(await reread()).toMatchObject({ status: 'pending', dueAt: addMs(deps.now(), 120_000) })
      expect(deps.lines.at(-1)).toMatchObject({ code: 'payment.check_failed', fields: { reason } })
      showMoney()
      await check()
      expect(await reread()).toMatchObject({ status: 'succeeded', capture: { providerPaymentId } })
      expect(await ledger()).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
    },
  )

  it('makes a refresh and a cancel answer 502 while the capture is not shown', async () => {
    const { deps, payment, cancel, reread } = await aHiddenPayment('open')

    const refusal = { code: 'server_error' }
    await expect(refreshPayment(deps, payment.paymentId, 'ayu')).rejects.toMatchObject(refusal)
    expect(await reread()).toMatchObject({ status: 'pending', dueAt: deps.now() })
    await expect(cancel()).rejects.toMatchObject(refusal)
    expect(await reread()).toMatchObject({ status: 'pending' })
  })

  it.each(['failed', 'expired'] as const)(
    'makes a %s payment not due; a repeated callback puts the money into suspense',
    async (status) => {
      const {
        deps,
        payment,
        providerPaymentId,
        request,
        notify,
        showMoney,
        receivePaid,
        reread,
        suspenseOf,
      } = await aHiddenPayment()
      const paidRequest = request()
      request({ status, latestPaymentId: undefined })
      await notify()
      request(paidRequest)

      expect(await receivePaid()).toBe('ask_again')

      expect(await reread()).toMatchObject({ status })
      expect(await dueAtOf(deps, 'payment', payment.paymentId)).toBeUndefined()
      showMoney()
      expect(await receivePaid()).toBe('applied')
      expect(await suspenseOf(providerPaymentId)).toMatchObject({ cause: 'payment_not_pending' })
    },
  )

  it.each([
    ['missing', 'open'],
    ['missing', 'expired'],
    ['missing', 'unknown'],
    ['open', 'expired'],
  ] as const)(
    'only makes the payment due at once if its capture is %s and its request %s, noted if unknown',
    async (visibility, status) => {
      const { deps, payment, request, receivePaid, reread } = await aHiddenPayment(visibility)
      request({ status, latestPaymentId: undefined })

      expect(await receivePaid()).toBe('applied')

      expect(await reread()).toEqual({ ...payment, dueAt: deps.now() })
      expect(deps.published).toHaveLength(Number(status === 'unknown'))
    },
  )
})

/* Each of these tests has its own table: all environments on one table share a pause. */
describe('a callback while the provider limits our calls', () => {
  it('answers 500 and changes nothing, and the next callback makes no call', async () => {
    const { deps, receivePaid, reread } = await aHiddenPayment('missing', memoryDeps())
    const paymentBefore = await reread()
    deps.provider.silence('getPayment', 'rate_limited')
    deps.provider.script('pauseMs', () => 5_000 * deps.provider.countOf('getPayment'))

    expect([await receivePaid(), await receivePaid()]).toStrictEqual(['ask_again', 'ask_again'])

    expect(deps.provider.countOf('getPayment')).toBe(1)
    expect(await reread()).toStrictEqual(paymentBefore)
    expect(deps.sent).toMatchObject([
      { queue: 'sync', message: { body: { woken: true }, delaySeconds: 15 } },
    ])
  })

  it('about a refund or a dispute makes no call, and wakes the sync at most every 30 seconds', async () => {
    const { deps, receive } = await aHiddenPayment('missing', memoryDeps())
    const data = { payment_id: 'py-1' }
    await expect(receive({ event: 'refund.failed', data }, 0, withoutQueue(deps))).rejects.toThrow()

    for (const event of ['refund.succeeded', 'dispute.won', 'dispute.lost']) {
      deps.clock.advance(15)
      expect(await receive({ event, ...data, data })).toBe('applied')
    }

    expect(deps.provider.countOf('getPayment')).toBe(0)
    expect(deps.sent.map(({ queue }) => queue)).toStrictEqual(['sync', 'sync'])
  })
})

it('a callback of at most 256 KB is applied with three reads and one transaction', async () => {
  const { deps, captureBody, showMoney, receive } = await aHiddenPayment()
  showMoney()
  const { deps: recorded, calls } = recordTable(deps)

  expect(await receive(captureBody(), 262_145, recorded)).toBe('ignored')
  expect(await receive(captureBody(), 262_144, recorded)).toBe('applied')

  expect(calls.map(({ name }) => name)).toStrictEqual(['get', 'batchGet', 'query', 'transact'])
})

it('a repeated callback about a credited capture makes no call and no write', async () => {
  const { deps, showMoney, receivePaid, receiveExpired, reread } = await aHiddenPayment()
  showMoney()
  expect(await receivePaid()).toBe('applied')
  const [callsBefore, paymentBefore] = [deps.provider.calls.length, await reread()]

  for (let time = 0; time < 20; time++) expect(await receivePaid()).toBe('ignored')
  expect(await receiveExpired()).toBe('ignored')

  expect(deps.provider.calls).toHaveLength(callsBefore)
  expect(await reread()).toStrictEqual(paymentBefore)
})

it('a payment whose cancel is requested during the provider call ends as cancelled', async () => {
  const { deps, payment, request, receiveExpired, reread } = await aHiddenPayment()
  deps.provider.script('getRequest', async () => {
    await recordCancelRequest(deps, payment.paymentId, deps.now(), deps.now())
    return { kind: 'found', value: request({ status: 'cancelled', latestPaymentId: undefined }) }
  })

  expect(await receiveExpired()).toBe('applied')

  expect(await reread()).toMatchObject({ status: 'cancelled' })
})

describe('a callback about a payment that is being created and whose capture the provider does not show yet', () => {
  /**
   * The process of the create died, so the gateway does not know its request. The customer has
   * paid.
   */
  const aHiddenCreating = async (request: Partial<ProviderRequest>) => {
    const hidden = await aHiddenPayment()
    const { deps, payment } = hidden
    const { creating } = await aCreating()
    const { paymentId } = creating
    const ids = { paymentRequestId: PR_CREATING, reference: `${paymentId}-1` }
    const own = deps.provider.requestOf(payment.paymentRequestId)
    deps.provider.requests.set(PR_CREATING, { ...own, ...ids, ...request })
    return {
      ...hidden,
      creating,
      ids,
      receivePaid: () => hidden.receivePaid({ ...payment, ...ids, paymentId }),
      reread: () => findStoredPayment(deps, paymentId),
    }
  }

  it.each(['missing', 'refused'])(
    'is stored, checked at once, and removed after an hour (%s)',
    async (visibility) => {
      const { deps, creating, providerPaymentId, receivePaid, reread } = await aHiddenCreating({})
      if (visibility === 'refused') deps.provider.silence('getPayment')
      const ids = new Set([providerPaymentId])
      const remembering = { status: 'creating', rememberedProviderPaymentIds: ids }

      expect(await receivePaid()).toBe('ask_again')
      expect(await reread()).toMatchObject({ ...remembering, dueAt: deps.now() })
      if (visibility === 'refused') deps.provider.silence('getPayment', 'refused')
      expect(await checkWhenDue(deps, creating)).toBe('not_shown')
      expect(await reread()).toMatchObject(remembering)
      // Within an hour the provider repeats its callback.
      deps.clock.advance(3_600)
      expect(await checkWhenDue(deps, creating)).toBe('checked')

      expect(await reread()).not.toHaveProperty('rememberedProviderPaymentIds')
      expect(await reread()).not.toHaveProperty('dueAt')
    },
  )

  it('makes it due at once when its attempt commits meanwhile', async () => {
    const { deps, payment, creating, ids, receive, captureBody } = await aHiddenCreating({})
    const { paymentId } = creating
    const key = paymentKey(paymentId)
    const pending = { ...(await rawItem(deps, paymentKey(payment.paymentId))), ...key }
    let updates = 0
    const committing = interceptTable(deps, {
      before: async ({ name }) => {
        if (name === 'update' && ++updates === 2) await putRaw(deps, { ...pending, id: paymentId })
      },
    })
    const body = captureBody({ ...payment, ...ids, paymentId })

    expect(await receive(body, 0, committing)).toBe('ask_again')

    expect(await rawItem(deps, key)).toMatchObject({ status: 'pending', due_at: deps.now() })
  })

  it.each([true, false])(
    'answers 500 when the provider’s request is open or unknown (known: %s)',
    async (isKnown) => {
      const { deps, receivePaid, reread } = await aHiddenCreating({
        status: 'open',
        latestPaymentId: undefined,
      })
      if (!isKnown) deps.provider.requests.delete(PR_CREATING)

      expect(await receivePaid()).toBe('ask_again')
      expect(await reread()).not.toHaveProperty('rememberedProviderPaymentIds')
    },
  )

  it('remembers another amount while an attempt runs, and holds it after the attempt', async () => {
    const { deps, ids, providerPaymentId, suspenseOf, receivePaid, reread } = await aHiddenCreating(
      { status: 'open' },
    )
    deps.provider.payments.set(providerPaymentId, {
      status: 'captured',
      currency: 'IDR',
      capturedMinor: minor(1),
      ...ids,
      providerPaymentId,
    })

    expect(await receivePaid()).toBe('ask_again')
    expect(await suspenseOf(providerPaymentId)).toBeUndefined()
    const { leaseUntil } = Object(await reread())
    deps.clock.set(leaseUntil)

    expect(await receivePaid()).toBe('applied')
    expect(await suspenseOf(providerPaymentId)).toMatchObject({ cause: 'wrong_amount' })
  })
})

const WITH_CAPTURE = { rememberedProviderPaymentIds: new Set(['py-remembered']) }
it('a capture that the create stored is checked for an hour, then removed', async ({
  deps,
  client,
}) => {
  const payment = await aPendingPayment(deps, client, { method: 'ewallet', channelCode: 'DANA' })
  const reread = () => paymentOf(deps, { payment })
  await deps.table.write(update(paymentKey(payment.paymentId), { add: WITH_CAPTURE }))

  expect(await checkWhenDue(deps, payment)).toBe('not_shown')
  expect(await reread()).toMatchObject({ ...WITH_CAPTURE, dueAt: addMs(deps.now(), 2 * MINUTE_MS) })
  deps.clock.advance(3_600)
  expect(await checkWhenDue(deps, payment)).toBe('checked')

  expect(await reread()).toEqual({ ...payment, dueAt: payment.expiresAt })
})
