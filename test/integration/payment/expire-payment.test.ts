/**
 * Goal: a payment past its time is `expired`, with its event, also when a cancel was tried before; `cancelled` only when
 * the provider had cancelled it at its merchant's request before our own expiry began. Method: each order of what
 * merchant, due work and provider do; then due work goes on until nothing is due.
 */
import { describe, expect, it } from 'vitest'
import { noteExpiryStarted, scheduleCheck } from '../../../shared/payment/due-store.ts'
import { cancelPayment } from '../../../shared/payment/news/cancel-payment.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { addMs } from '../../../shared/time.ts'
import { beforeFirst } from '../../support/intercept-table.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aPendingPayment, aStoredClient, checkWhenDue, eventOf } from '../../support/payment-builders.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

const LIFETIME_S = 600
const EXPIRED = 'payment cannot be cancelled in status=expired'

/** A QRIS payment, whose time is ours to enforce, and what can happen to its cancels. */
const aQris = async () => {
  const deps = testDeps()
  const client = await aStoredClient(deps)
  const request = { method: 'qris', channelCode: undefined, expiresInSeconds: LIFETIME_S } as const
  const payment = await aPendingPayment(deps, client, request)
  const { provider } = deps
  const cancel = (as: TestDeps = deps) => cancelPayment(as, { clientId: client.clientId, id: payment.paymentId })
  return {
    deps,
    payment,
    cancel,
    check: () => checkWhenDue(deps, payment),
    /** A cancel that is lost, now and from now on, on its way there, or on its way back when the provider has done it. */
    loseCancel: async (way: 'there' | 'back') => {
      provider.script('cancelRequest', async (id, timeoutMs) => {
        if (way === 'back') await provider.healthy.cancelRequest(id, timeoutMs)
        return { kind: 'unanswered', reason: 'unreachable' }
      })
      await expect(cancel()).rejects.toMatchObject({ code: 'network' })
    },
    heal: () => provider.heal('cancelRequest'),
    /** Something happens while the provider's answer is on its way. */
    meanwhile: (act: () => Promise<unknown>) =>
      provider.script('cancelRequest', async (id, timeoutMs) => {
        const answer = await provider.healthy.cancelRequest(id, timeoutMs)
        await act()
        return answer
      }),
    passTime: () => deps.clock.advance(LIFETIME_S),
  }
}

/** Due work, as often as it takes. */
const rest = async (deps: TestDeps, payment: Payment): Promise<Payment> => {
  for (let check = 0; check < 20; check++) {
    const stored = await paymentOf(deps, { payment })
    if (stored.status !== 'pending') return stored
    await checkWhenDue(deps, payment)
  }
  throw new Error('the payment does not come to rest')
}

const expectExpired = async (deps: TestDeps, payment: Payment) => {
  expect(await paymentOf(deps, { payment })).toMatchObject({ status: 'expired' })
  expect(await eventOf(deps, payment, 'payment.expired')).toMatchObject({ entity: 'event' })
  expect(await ledgerView(deps, payment.clientId)).toStrictEqual({ pendingMinor: 0, expired: 1 })
}

const expectCancelled = async (deps: TestDeps, payment: Payment) => {
  expect(await paymentOf(deps, { payment })).toMatchObject({ status: 'cancelled' })
  expect(await paymentOf(deps, { payment })).not.toHaveProperty('expiryStartedAt')
  expect(await eventOf(deps, payment, 'payment.expired')).toBeUndefined()
  expect(await ledgerView(deps, payment.clientId)).toStrictEqual({ pendingMinor: 0, cancelled: 1 })
}

describe('a payment past its time', () => {
  type Scene = Awaited<ReturnType<typeof aQris>>

  /** A cancel of its merchant was lost, its time is over, and the provider can be reached again. */
  const cancelLost = async (way: 'there' | 'back', before: (scene: Scene) => unknown = () => undefined) => {
    const scene = await aQris()
    await scene.loseCancel(way)
    await before(scene)
    scene.heal()
    scene.passTime()
    return scene
  }

  it.each([
    ['due work comes', 'there'],
    ['its merchant asks again', 'there'],
    ['due work comes', 'back'],
    ['its merchant asks again', 'back'],
  ] as const)('ends when %s as the provider has it, where a cancel was lost on its way %s', async (who, way) => {
    const { deps, payment, cancel } = await cancelLost(way)

    const answer = who === 'due work comes' ? rest(deps, payment) : cancel()

    if (way === 'there' && who !== 'due work comes') await expect(answer).rejects.toThrow(EXPIRED)
    else expect(await answer).toMatchObject({ status: way === 'there' ? 'expired' : 'cancelled' })
    await (way === 'there' ? expectExpired : expectCancelled)(deps, payment)
    expect(deps.provider.requests.get(payment.paymentRequestId)?.status).toBe('cancelled')
  })

  it('is cancelled upstream without a question first, after its expiry was noted', async () => {
    const { deps, payment, check, meanwhile, passTime } = await aQris()
    passTime()
    let noted: Payment | undefined
    meanwhile(async () => {
      noted = await paymentOf(deps, { payment })
    })

    await check()

    expect(noted).toMatchObject({ status: 'pending', expiryStartedAt: deps.now() })
    expect([deps.provider.countOf('getRequest'), deps.provider.countOf('cancelRequest')]).toStrictEqual([0, 1])
    await expectExpired(deps, payment)
  })

  it('is expired when its merchant’s cancel reached the provider only after the start of our expiry', async () => {
    const { deps, payment, check, loseCancel, heal, passTime } = await aQris()
    await loseCancel('there')
    passTime()
    await check()
    deps.provider.close(payment.paymentRequestId, 'cancelled')
    heal()

    await rest(deps, payment)

    await expectExpired(deps, payment)
  })

  it('succeeds when it was paid, although a cancel was tried', async () => {
    const pay = ({ deps, payment }: Scene) => deps.provider.pay(payment.paymentRequestId)
    const { deps, payment } = await cancelLost('there', pay)

    expect(await rest(deps, payment)).toMatchObject({ status: 'succeeded' })
  })

  it('stays pending while it is unknown what became of its merchant’s cancel, and its expiry does not begin', async () => {
    const { deps, payment, check, loseCancel, passTime } = await aQris()
    await loseCancel('there')
    deps.provider.script('getRequest', async () => ({ kind: 'unanswered', reason: 'unreachable' }))
    passTime()

    expect(await check()).toBe('unanswered')

    expect(await paymentOf(deps, { payment })).toMatchObject({ status: 'pending' })
    expect(await paymentOf(deps, { payment })).not.toHaveProperty('expiryStartedAt')
  })
})

describe('a cancel whose answer was lost', () => {
  it('is looked at within a minute, and ends as cancelled when the provider has done it', async () => {
    const { deps, payment, loseCancel } = await aQris()
    await loseCancel('back')

    const { dueAt = '' } = await paymentOf(deps, { payment })
    expect(dueAt > deps.now() && dueAt <= addMs(deps.now(), 60_000)).toBe(true)
    await rest(deps, payment)
    await expectCancelled(deps, payment)
  })

  it('leaves the payment pending when the provider has not', async () => {
    const { deps, payment, check, loseCancel } = await aQris()
    await loseCancel('there')

    expect(await check()).toBe('checked')

    expect(await paymentOf(deps, { payment })).toMatchObject({ status: 'pending' })
  })

  it('does not put off a payment that is due before', async () => {
    const { deps, payment, loseCancel } = await aQris()
    const { dueAt = deps.now() } = payment
    deps.clock.set(addMs(dueAt, -1))
    await loseCancel('there')

    expect(await paymentOf(deps, { payment })).toMatchObject({ dueAt })
  })
})

describe('a POST of its cancel after expires_at', () => {
  it('acts as the expiry: 422 with status=expired, and the event', async () => {
    const { deps, payment, cancel, passTime } = await aQris()
    passTime()

    await expect(cancel()).rejects.toMatchObject({ code: 'validation', message: EXPIRED })

    await expectExpired(deps, payment)
    expect(await paymentOf(deps, { payment })).not.toHaveProperty('cancelRequestedAt')
    expect(deps.provider.requests.get(payment.paymentRequestId)?.status).toBe('cancelled')
  })

  it('is refused by the success when the customer had paid', async () => {
    const { deps, payment, cancel, passTime } = await aQris()
    deps.provider.pay(payment.paymentRequestId)
    passTime()

    await expect(cancel()).rejects.toThrow('payment cannot be cancelled in status=succeeded')
  })

  it.each([
    ['unreachable', 'network'],
    ['rate_limited', 'server_error'],
  ] as const)('answers 502 while the provider is %s, and leaves the payment due at once', async (reason, code) => {
    const { deps, payment, cancel, heal, passTime } = await aQris()
    deps.provider.script('cancelRequest', async () => ({ kind: 'unanswered', reason }))
    passTime()
    await scheduleCheck(deps, payment.paymentId, payment.dueAt ?? deps.now(), addMs(deps.now(), 60_000))

    await expect(cancel()).rejects.toMatchObject({ code })

    expect(await paymentOf(deps, { payment })).toMatchObject({ status: 'pending', dueAt: deps.now() })
    heal()
    await rest(deps, payment)
    await expectExpired(deps, payment)
  })
})

describe('a cancel that meets the expiry', () => {
  it('is refused by it when it began while the provider’s answer was on its way', async () => {
    const { deps, payment, cancel, meanwhile } = await aQris()
    meanwhile(async () => noteExpiryStarted(deps, await paymentOf(deps, { payment }), deps.now()))

    await expect(cancel()).rejects.toThrow(EXPIRED)

    await expectExpired(deps, payment)
  })

  it('is refused by it when it began before its own note', async () => {
    const { deps, payment, cancel } = await aQris()
    const raced = beforeFirst(deps, 'update', () => noteExpiryStarted(deps, payment, deps.now()))

    await expect(cancel(raced)).rejects.toThrow(EXPIRED)

    expect(await paymentOf(deps, { payment })).not.toHaveProperty('cancelRequestedAt')
    await expectExpired(deps, payment)
  })

  it('expires it once when both come at the same time', async () => {
    const { deps, payment, cancel, check, passTime } = await aQris()
    passTime()

    const [refused] = await Promise.allSettled([cancel(), check()])

    expect(refused).toMatchObject({ status: 'rejected', reason: { message: EXPIRED } })
    await expectExpired(deps, payment)
  })
})
