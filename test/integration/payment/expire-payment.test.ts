/**
 * Goal: a payment past its time is `expired`, with its event, whoever tried to cancel it before; `cancelled` only when
 * the provider had cancelled it at its merchant's request before our own expiry began. Method: each order of what
 * merchant, due work and provider do; then due work goes on until nothing is due.
 */
import { describe, expect, it } from 'vitest'
import type { Payment } from '../../../shared/payment/payment.ts'
import { noteExpiryStarted } from '../../../shared/payment/payment-store.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { addMs } from '../../../shared/time.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import { paymentOf } from '../../support/synced-payment.ts'
import { aQris, EXPIRED, expectCancelled, expectExpired, rest } from './ageing-payment.ts'

describe('a payment past its time', () => {
  it('is expired, with its event, also when somebody tried to cancel it before and was answered 502', async () => {
    const { deps, payment, loseCancel, heal, passTime } = await aQris()
    await loseCancel('there')
    heal()
    passTime()

    await rest(deps, payment)

    await expectExpired(deps, payment)
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

  it('is cancelled when the provider had cancelled it at its merchant’s request before our expiry began', async () => {
    const { deps, payment, loseCancel, heal, passTime } = await aQris()
    await loseCancel('back')
    heal()
    passTime()

    await rest(deps, payment)

    await expectCancelled(deps, payment)
  })

  it('is expired when its merchant’s cancel reached the provider only behind the start of our expiry', async () => {
    const { deps, payment, check, loseCancel, heal, passTime } = await aQris()
    await loseCancel('there')
    passTime()
    await check()
    deps.provider.close(payment.paymentRequestId, 'cancelled')
    heal()

    await rest(deps, payment)

    await expectExpired(deps, payment)
  })

  it('succeeds when it was paid, whoever tried to cancel it', async () => {
    const { deps, payment, loseCancel, heal, passTime } = await aQris()
    await loseCancel('there')
    deps.provider.pay(payment.paymentRequestId)
    heal()
    passTime()

    expect(await rest(deps, payment)).toMatchObject({ status: 'succeeded' })
  })

  it('stays pending while nobody can say what became of its merchant’s cancel, and its expiry does not begin', async () => {
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

  it('is the expiry at once, also behind an earlier one that was answered 502', async () => {
    const { deps, payment, cancel, loseCancel, heal, passTime } = await aQris()
    await loseCancel('there')
    heal()
    passTime()

    await expect(cancel()).rejects.toMatchObject({ code: 'validation', message: EXPIRED })

    await expectExpired(deps, payment)
  })

  it('answers 200 when an earlier one was lost behind the provider', async () => {
    const { deps, payment, cancel, loseCancel, heal, passTime } = await aQris()
    await loseCancel('back')
    heal()
    passTime()

    expect(await cancel()).toMatchObject({ status: 'cancelled' })

    await expectCancelled(deps, payment)
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

    await expect(cancel()).rejects.toMatchObject({ code })

    expect(await paymentOf(deps, { payment })).toMatchObject({ status: 'pending', dueAt: deps.now() })
    heal()
    await rest(deps, payment)
    await expectExpired(deps, payment)
  })

  it('expires with a finding what the provider does not know', async () => {
    const { deps, payment, cancel, passTime } = await aQris()
    deps.provider.script('cancelRequest', async () => ({ kind: 'not_found' }))
    passTime()

    await expect(cancel()).rejects.toThrow(EXPIRED)

    expect(await findSuspense(deps, `${payment.paymentId}#not_found_upstream`)).toMatchObject({ kind: 'finding' })
  })
})

describe('a cancel that meets the expiry', () => {
  it('is refused by it when it began while the provider’s answer was on its way', async () => {
    const { deps, payment, cancel, meanwhile } = await aQris()
    meanwhile(() => noteExpiryStarted(deps, payment.paymentId, deps.now()))

    await expect(cancel()).rejects.toThrow(EXPIRED)

    await expectExpired(deps, payment)
  })

  it('is refused by it when it began before its own note', async () => {
    const { deps, payment, cancel } = await aQris()
    let begun = false
    const raced = interceptTable(deps, {
      before: async ({ name }) => {
        if (begun || name !== 'update') return
        begun = true
        await noteExpiryStarted(deps, payment.paymentId, deps.now())
      },
    })

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
