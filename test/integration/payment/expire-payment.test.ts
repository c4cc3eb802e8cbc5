/**
 * Goal: a payment past its time is `expired`, with its event, also when a cancel was tried before; `cancelled` only when
 * the provider had cancelled it at its merchant's request before our own expiry began. Method: each order of what
 * merchant, due work and provider do; then due work goes on until nothing is due.
 */
import { describe, expect, it } from 'vitest'
import { noteExpiryStarted, scheduleCheck } from '../../../shared/payment/due-store.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { addMs } from '../../../shared/time.ts'
import { beforeFirst } from '../../support/intercept-table.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import { aScene } from './payment-test.ts'

const LIFETIME_S = 600
const EXPIRED = 'payment cannot be cancelled in status=expired'
const UNREACHABLE = { kind: 'unanswered', reason: 'unreachable' } as const

/** A QRIS payment, whose time is ours to enforce, and what can happen to its cancels. */
const aQris = async () => {
  const request = { method: 'qris', channelCode: undefined, expiresInSeconds: LIFETIME_S } as const
  const scene = await aScene(request)
  const { deps, payment, event, ledger, cancel, check } = scene
  const { provider } = deps
  const now = () => paymentOf(deps, { payment })
  return {
    ...scene,
    now,
    upstream: () => provider.requestOf(payment.paymentRequestId).status,
    /** A cancel that is lost, now and from now on, on its way there, or on its way back when the provider has done it. */
    loseCancel: async (way: 'there' | 'back') => {
      provider.script('cancelRequest', async (id, timeoutMs) => {
        if (way === 'back') await provider.healthy.cancelRequest(id, timeoutMs)
        return UNREACHABLE
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
    /** Due work, as often as it takes. */
    rest: async () => {
      for (let checks = 0; checks < 20 && (await now()).status === 'pending'; checks++) await check()
      return now()
    },
    expectExpired: async () => {
      expect(await now()).toMatchObject({ status: 'expired' })
      expect(await event('payment.expired')).toMatchObject({ entity: 'event' })
      expect(await ledger()).toStrictEqual({ pendingMinor: 0, expired: 1 })
    },
    expectCancelled: async () => {
      expect(await now()).toMatchObject({ status: 'cancelled' })
      expect(await now()).not.toHaveProperty('expiryStartedAt')
      expect(await event('payment.expired')).toBeUndefined()
      expect(await ledger()).toStrictEqual({ pendingMinor: 0, cancelled: 1 })
    },
  }
}

describe('a payment past its time', () => {
  it.each([
    ['due work comes', 'there'],
    ['its merchant asks again', 'there'],
    ['due work comes', 'back'],
    ['its merchant asks again', 'back'],
  ] as const)('ends when %s as the provider has it, where a cancel was lost on its way %s', async (who, way) => {
    const { cancel, rest, loseCancel, heal, passTime, upstream, expectExpired, expectCancelled } = await aQris()
    await loseCancel(way)
    heal()
    passTime()

    const answer = who === 'due work comes' ? rest() : cancel()

    if (way === 'there' && who !== 'due work comes') await expect(answer).rejects.toThrow(EXPIRED)
    else expect(await answer).toMatchObject({ status: way === 'there' ? 'expired' : 'cancelled' })
    await (way === 'there' ? expectExpired : expectCancelled)()
    expect(upstream()).toBe('cancelled')
  })

  it('is cancelled upstream without a question first, after its expiry was noted', async () => {
    const { deps, now, check, meanwhile, passTime, expectExpired } = await aQris()
    passTime()
    let noted: Payment | undefined
    meanwhile(async () => {
      noted = await now()
    })

    await check()

    expect(noted).toMatchObject({ status: 'pending', expiryStartedAt: deps.now() })
    expect([deps.provider.countOf('getRequest'), deps.provider.countOf('cancelRequest')]).toStrictEqual([0, 1])
    await expectExpired()
  })

  it('is expired when its merchant’s cancel reached the provider only after the start of our expiry', async () => {
    const { request, check, rest, loseCancel, heal, passTime, expectExpired } = await aQris()
    await loseCancel('there')
    passTime()
    await check()
    request({ status: 'cancelled' })
    heal()

    await rest()

    await expectExpired()
  })

  it('succeeds when it was paid, although a cancel was tried', async () => {
    const { pay, rest, loseCancel, heal, passTime } = await aQris()
    await loseCancel('there')
    pay()
    heal()
    passTime()

    expect(await rest()).toMatchObject({ status: 'succeeded' })
  })

  it('stays pending while it is unknown what became of its merchant’s cancel, and its expiry does not begin', async () => {
    const { deps, now, check, loseCancel, passTime } = await aQris()
    await loseCancel('there')
    deps.provider.script('getRequest', async () => UNREACHABLE)
    passTime()

    expect(await check()).toBe('unanswered')

    expect(await now()).toMatchObject({ status: 'pending' })
    expect(await now()).not.toHaveProperty('expiryStartedAt')
  })
})

describe('a cancel whose answer was lost', () => {
  it('is looked at within a minute, and ends as cancelled when the provider has done it', async () => {
    const { deps, now, rest, loseCancel, expectCancelled } = await aQris()
    await loseCancel('back')

    const { dueAt = '' } = await now()
    expect(dueAt > deps.now() && dueAt <= addMs(deps.now(), 60_000)).toBe(true)
    await rest()
    await expectCancelled()
  })

  it('leaves the payment pending when the provider has not', async () => {
    const { now, check, loseCancel } = await aQris()
    await loseCancel('there')

    expect(await check()).toBe('checked')

    expect(await now()).toMatchObject({ status: 'pending' })
  })

  it('does not put off a payment that is due before', async () => {
    const { deps, payment, now, loseCancel } = await aQris()
    const { dueAt = deps.now() } = payment
    deps.clock.set(addMs(dueAt, -1))

    await loseCancel('there')

    expect(await now()).toMatchObject({ dueAt })
  })
})

describe('a POST of its cancel after expires_at', () => {
  it('acts as the expiry: 422 with status=expired, and the event', async () => {
    const { now, cancel, passTime, upstream, expectExpired } = await aQris()
    passTime()

    await expect(cancel()).rejects.toMatchObject({ code: 'validation', message: EXPIRED })

    await expectExpired()
    expect(await now()).not.toHaveProperty('cancelRequestedAt')
    expect(upstream()).toBe('cancelled')
  })

  it('is refused by the success when the customer had paid', async () => {
    const { pay, cancel, passTime } = await aQris()
    pay()
    passTime()

    await expect(cancel()).rejects.toThrow('payment cannot be cancelled in status=succeeded')
  })

  it.each([
    ['unreachable', 'network'],
    ['rate_limited', 'server_error'],
  ] as const)('answers 502 while the provider is %s, and leaves the payment due at once', async (reason, code) => {
    const { deps, payment, now, cancel, rest, heal, passTime, expectExpired } = await aQris()
    deps.provider.script('cancelRequest', async () => ({ kind: 'unanswered', reason }))
    passTime()
    await scheduleCheck(deps, payment.paymentId, payment.dueAt ?? deps.now(), addMs(deps.now(), 60_000))

    await expect(cancel()).rejects.toMatchObject({ code })

    expect(await now()).toMatchObject({ status: 'pending', dueAt: deps.now() })
    heal()
    await rest()
    await expectExpired()
  })
})

describe('a cancel that meets the expiry', () => {
  it('is refused by it when it began while the provider’s answer was on its way', async () => {
    const { deps, now, cancel, meanwhile, expectExpired } = await aQris()
    meanwhile(async () => noteExpiryStarted(deps, await now(), deps.now()))

    await expect(cancel()).rejects.toThrow(EXPIRED)

    await expectExpired()
  })

  it('is refused by it when it began before its own note', async () => {
    const { deps, payment, now, cancel, expectExpired } = await aQris()
    const raced = beforeFirst(deps, 'update', () => noteExpiryStarted(deps, payment, deps.now()))

    await expect(cancel(raced)).rejects.toThrow(EXPIRED)

    expect(await now()).not.toHaveProperty('cancelRequestedAt')
    await expectExpired()
  })

  it('expires it once when both come at the same time', async () => {
    const { cancel, check, passTime, expectExpired } = await aQris()
    passTime()

    const [refused] = await Promise.allSettled([cancel(), check()])

    expect(refused).toMatchObject({ status: 'rejected', reason: { message: EXPIRED } })
    await expectExpired()
  })
})
