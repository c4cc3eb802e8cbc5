/**
 * Goal: a payment past its time is `expired`, with its event, also after a failed cancel. A payment
 * is `cancelled` only when the provider cancelled it at the merchant's request before the gateway's
 * expiry began. Method: merchant, due work and provider act in each order; then due work runs until
 * nothing is due.
 */
import { describe, expect, it } from 'vitest'
import { expirePayment } from '../../../shared/payment/news/cancel-payment.ts'
import { callsOfCheck, checkDuePayment } from '../../../shared/payment/news/check-due-payment.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import {
  endCheck,
  markDueNow,
  recordCancelRequest,
  recordExpiryStart,
} from '../../../shared/payment/payment-store.ts'
import { postPayments } from '../../../shared/posting/post-payments.ts'
import { paymentKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import { settledRowFor } from '../../support/paid-builders.ts'
import { expire } from '../../support/synced-payment.ts'
import { beforeFirst } from '../../support/test-deps.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'
import { aQris, aScene, LIFETIME_S } from './payment-test.ts'

const UNREACHABLE = { kind: 'unanswered', reason: 'unreachable' } as const
const EXPIRED = 'payment cannot be cancelled in status=expired'

async function aCancel(begun = aQris()) {
  const scene = await begun
  const { deps, event, ledger, cancel, check, reread } = scene
  const { provider } = deps
  return {
    ...scene,
    loseCancel: async (lostPart: 'request' | 'answer', before?: () => Promise<unknown>) => {
      provider.script('cancelRequest', async (id, timeoutMs) => {
        await before?.()
        if (lostPart === 'answer') await provider.healthy.cancelRequest(id, timeoutMs)
        return UNREACHABLE
      })
      await expect(cancel()).rejects.toMatchObject({ code: 'network' })
      provider.heal('cancelRequest')
    },
    passTime: () => deps.clock.advance(LIFETIME_S),
    runDueWork: async () => {
      for (let checks = 0; checks < 20 && (await reread()).status === 'pending'; checks++)
        await check()
      return reread()
    },
    expectExpired: async () => {
      expect(await reread()).toMatchObject({ status: 'expired' })
      expect(await event('payment.expired')).toMatchObject({ entity: 'event' })
      expect(await ledger()).toStrictEqual({ pendingMinor: 0, expired: 1 })
    },
    expectCancelled: async () => {
      expect(await reread()).toMatchObject({ status: 'cancelled' })
      expect(await reread()).not.toHaveProperty('expiryStartedAt')
      expect(await event('payment.expired')).toBeUndefined()
      expect(await ledger()).toStrictEqual({ pendingMinor: 0, cancelled: 1 })
    },
  }
}

describe('a payment after its expiry time', () => {
  it.each([
    ['due work', 'request'],
    ['its merchant', 'request'],
    ['due work', 'answer'],
    ['its merchant', 'answer'],
  ] as const)(
    'is ended by %s with the provider’s status if the %s of a cancel was lost',
    async (actor, lostPart) => {
      const { cancel, runDueWork, loseCancel, passTime, request, expectExpired, expectCancelled } =
        await aCancel()
      await loseCancel(lostPart)
      passTime()

      const answer = actor === 'due work' ? runDueWork() : cancel()

      if (lostPart === 'request' && actor === 'its merchant')
        await expect(answer).rejects.toThrow(EXPIRED)
      else
        expect(await answer).toMatchObject({
          status: lostPart === 'request' ? 'expired' : 'cancelled',
        })
      await (lostPart === 'request' ? expectExpired : expectCancelled)()
      expect(request().status).toBe('cancelled')
    },
  )

  it.for([0, 1])(
    'first stores the start of its expiry, then cancels at the provider: %d lost cancels before',
    async (lost) => {
      const { deps, reread, check, loseCancel, passTime, expectExpired } = await aCancel()
      if (lost > 0) await loseCancel('request')
      passTime()
      let paymentAtCancel: Payment | undefined
      deps.provider.before('cancelRequest', async () => {
        paymentAtCancel = await reread()
      })

      await check()

      expect(paymentAtCancel).toMatchObject({ status: 'pending', expiryStartedAt: deps.now() })
      const { countOf } = deps.provider
      // The provider is first asked about a cancel without an answer.
      expect([countOf('getRequest'), countOf('cancelRequest')]).toStrictEqual([lost, 1 + lost])
      await expectExpired()
    },
  )
})

describe('the start of an expiry is its claim, and leaves the due time', () => {
  async function aBegunExpiry() {
    const scene = await aCancel()
    const { deps, payment, item } = scene
    deps.clock.set(addMs(payment.dueAt ?? deps.now(), 1))
    const read = await item()
    deps.provider.answer('cancelRequest', UNREACHABLE)
    expect(await checkDuePayment(deps, read)).toBe('unanswered')
    return { ...scene, read, callsAtFirst: deps.provider.calls.length }
  }

  it('makes no call for a worker that read the payment before or after the start', async () => {
    const { deps, payment, read, item, reread, callsAtFirst } = await aBegunExpiry()
    deps.clock.advance(59)

    const outcomes = [await checkDuePayment(deps, read), await checkDuePayment(deps, await item())]

    expect(outcomes).toStrictEqual(['not_claimed', 'not_claimed'])
    expect(callsOfCheck((await item()) ?? {}, deps.now())).toStrictEqual([])
    expect(deps.provider.calls.length).toBe(callsAtFirst)
    expect(await reread()).toMatchObject({ dueAt: payment.dueAt })
  })

  it('is continued after a minute, by a claim that moves the due time', async () => {
    const { deps, check, reread, ledger } = await aBegunExpiry()
    const { expiryStartedAt } = await reread()
    deps.clock.advance(60)
    expect(await check()).toBe('unanswered')
    expect(await reread()).toMatchObject({ dueAt: addMs(deps.now(), 2 * MINUTE_MS) })
    deps.provider.heal('cancelRequest')

    expect(await check()).toBe('checked')

    expect(await reread()).toMatchObject({ status: 'expired', expiryStartedAt })
    expect(await ledger()).toStrictEqual({ pendingMinor: 0, expired: 1 })
  })

  it.each(['its start is later than now by more than a minute', 'a check became due after it'])(
    'is continued at once if %s',
    async (why) => {
      const { deps, payment, check, reread } = await aBegunExpiry()
      deps.clock.advance(1)
      const set = { expiryStartedAt: addMs(deps.now(), 5 * MINUTE_MS) }
      if (why.startsWith('its start'))
        await deps.table.write(update(paymentKey(payment.paymentId), { set }))
      else await markDueNow(deps, payment.paymentId, deps.now())
      deps.provider.heal('cancelRequest')

      expect(await check()).toBe('checked')

      expect(await reread()).toMatchObject({ status: 'expired' })
    },
  )
})

it.each([
  ['open', 'it expires'],
  ['succeeded', 'it expires'],
  ['succeeded', 'a cancel'],
] as const)(
  'a request that refuses its cancel and stays %s without a capture is a finding an hour after %s',
  async (status, first) => {
    const { deps, payment, request, cancel, check, reread, passTime, suspenseOf } = await aCancel()
    deps.provider.answer('cancelRequest', { kind: 'final' })
    request({ status })
    if (first === 'a cancel') await expect(cancel()).rejects.toThrow('try again')
    const findingId = `${payment.paymentId}#state_unknown`
    passTime()
    await check()
    deps.clock.advance(3_500)
    await check()
    expect(await suspenseOf(findingId)).toBeUndefined()

    await check()
    await check()

    expect(await suspenseOf(findingId)).toMatchObject({ kind: 'finding', status: 'open' })
    expect(deps.published).toMatchObject([{ subject: findingId }])
    expect(await reread()).toMatchObject({ status: 'pending' })
  },
)

it('a cancel without an answer stays due within a minute, also with a check during the call', async () => {
  const DANA = aScene({ method: 'ewallet', channelCode: 'DANA' })
  const { deps, payment, item, reread, loseCancel } = await aCancel(DANA)
  deps.clock.set(addMs(payment.dueAt ?? deps.now(), -1_000))

  await loseCancel('answer', async () => {
    deps.clock.advance(2)
    await checkDuePayment(deps, await item())
  })

  const stored = await reread()
  expect(stored).toMatchObject({ status: 'pending', cancelRequestedAt: expect.any(String) })
  expect(stored?.dueAt).toSatisfy((at) => at <= addMs(deps.now(), MINUTE_MS))
})

describe('POST cancel after expires_at', () => {
  it('expires the payment, writes its event and answers 422 with status=expired', async () => {
    const { deps, reread, cancel, passTime, request, expectExpired } = await aCancel()
    passTime()

    await expect(cancel()).rejects.toMatchObject({ code: 'validation', message: EXPIRED })
    expect(deps.provider.countOf('getRequest')).toBe(0)

    await expectExpired()
    expect(await reread()).not.toHaveProperty('cancelRequestedAt')
    expect(request().status).toBe('cancelled')
  })

  it.each([
    ['unreachable', 'network'],
    ['rate_limited', 'server_error'],
  ] as const)(
    'answers 502 while the provider is %s, and leaves the payment due at once',
    async (reason, code) => {
      const { deps, payment, reread, cancel, runDueWork, passTime, expectExpired } = await aCancel()
      deps.provider.answer('cancelRequest', { kind: 'unanswered', reason })
      passTime()
      await endCheck(deps, payment, payment.dueAt ?? deps.now(), addMs(deps.now(), 60_000))

      await expect(cancel()).rejects.toMatchObject({ code })

      expect(await reread()).toMatchObject({ status: 'pending', dueAt: deps.now() })
      deps.provider.heal('cancelRequest')
      await runDueWork()
      await expectExpired()
    },
  )
})

it('a cancel is refused when the expiry starts before it is stored', async () => {
  const { deps, payment, reread, cancel, expectExpired } = await aCancel()
  const raced = beforeFirst(deps, 'update', () => recordExpiryStart(deps, payment, deps.now()))

  await expect(cancel(raced)).rejects.toThrow(EXPIRED)

  expect(await reread()).not.toHaveProperty('cancelRequestedAt')
  await expectExpired()
})

it('an expiry does not start when a cancel was stored after the read; the provider’s status decides', async () => {
  const { deps, payment, request, reread } = await aScene()
  await recordCancelRequest(deps, payment.paymentId, deps.now(), deps.now())
  request({ status: 'cancelled' })

  const outcome = await expirePayment(deps, payment, 'due_work')

  expect(outcome).toMatchObject({ kind: 'applied', payment: { status: 'cancelled' } })
  expect(await reread()).not.toHaveProperty('expiryStartedAt')
})

it('a terminal payment refuses the start of an expiry, a due time and a posting', async () => {
  const { deps, payment, reread } = await aScene()
  await expire(deps, payment)
  const paymentBefore = await reread()

  const expiryStart = await recordExpiryStart(deps, payment, deps.now())
  const dueMark = await markDueNow(deps, payment.paymentId, deps.now())
  const posting = await postPayments(deps, [{ payment, by: { row: settledRowFor(payment) } }])

  expect([expiryStart.applied, dueMark.applied, posting]).toStrictEqual([false, false, [undefined]])
  expect(await reread()).toEqual(paymentBefore)
  expect(await dueAtOf(deps, 'payment', payment.paymentId)).toBeUndefined()
})
