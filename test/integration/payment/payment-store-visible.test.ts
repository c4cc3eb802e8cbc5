import { describe, expect, it } from 'vitest'
import { rememberCapture } from '../../../shared/payment/attempt-store.ts'
import {
  endCheck,
  markDueNow,
  noteCancelRequested,
  noteExpiryStarted,
  scheduleCheck,
} from '../../../shared/payment/due-store.ts'
import { expirePayment } from '../../../shared/payment/news/expire-payment.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { findStoredPayment, leavePending } from '../../../shared/payment/payment-store.ts'
import { postPayments } from '../../../shared/posting/post-payments.ts'
import { addMs, type Timestamp } from '../../../shared/time.ts'
import { settledRowFor } from '../../support/paid-builders.ts'
import { aCreating, aPaid, aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'

const stored = (deps: TestDeps, { paymentId }: Pick<Payment, 'paymentId'>) => findStoredPayment(deps, paymentId)

const anExpired = async () => {
  const { deps, payment } = await aPaid()
  await deps.table.transact({ payment: leavePending({ ...payment, status: 'expired' }) })
  return { deps, payment, before: await stored(deps, payment) }
}

describe('leavePending', () => {
  it('takes the payment off the due work and happens once', async () => {
    const { deps, payment } = await aPaid()
    const expired: Payment = { ...payment, status: 'expired', dueAt: undefined }

    const first = await deps.table.transact({ payment: leavePending(expired) })
    const second = await deps.table.transact({ payment: leavePending({ ...expired, status: 'failed' }) })

    expect([first.applied, second.applied]).toStrictEqual([true, false])
    expect(await stored(deps, payment)).toMatchObject({ status: 'expired' })
    expect(await dueAtOf(deps, 'payment', payment.paymentId)).toBeUndefined()
  })
})

describe('once the expiry has begun', () => {
  it('no cancel ends it, whose merchant nobody can tell from us any more, and whatever else does', async () => {
    const { deps, payment } = await aPaid()
    await noteExpiryStarted(deps, payment, deps.now())
    const before = await stored(deps, payment)

    const noted = await noteCancelRequested(deps, payment.paymentId, deps.now(), deps.now())
    expect(await stored(deps, payment)).toEqual(before)
    const cancelled = await deps.table.transact({ payment: leavePending({ ...payment, status: 'cancelled' }) })
    const expired = await deps.table.transact({ payment: leavePending({ ...payment, status: 'expired' }) })

    expect([noted.applied, cancelled.applied, expired.applied]).toStrictEqual([false, false, true])
  })
})

describe('before the expiry begins', () => {
  it('a cancel is asked about that was noted, and reached the provider, since the payment was read', async () => {
    const deps = testDeps()
    const payment = await aPendingPayment(deps, await aStoredClient(deps))
    await noteCancelRequested(deps, payment.paymentId, deps.now(), deps.now())
    deps.provider.close(payment.paymentRequestId, 'cancelled')

    const begun = await noteExpiryStarted(deps, payment, deps.now())
    const outcome = await expirePayment(deps, payment, 'due_work')

    expect(begun.applied).toBe(false)
    expect(outcome).toMatchObject({ kind: 'applied', payment: { status: 'cancelled' } })
    expect(await stored(deps, payment)).not.toHaveProperty('expiryStartedAt')
  })
})

describe('what may be written to a payment that is terminal', () => {
  it.each<[string, (deps: TestDeps, payment: Payment) => Promise<{ readonly applied: boolean }>]>([
    ['beginning of its expiry', (deps, payment) => noteExpiryStarted(deps, payment, deps.now())],
    ['due time', (deps, { paymentId }) => markDueNow(deps, paymentId, deps.now())],
  ])('is no %s', async (_, write) => {
    const { deps, payment, before } = await anExpired()

    expect(await write(deps, payment)).toMatchObject({ applied: false })
    expect(await stored(deps, payment)).toEqual(before)
    expect(await dueAtOf(deps, 'payment', payment.paymentId)).toBeUndefined()
  })

  it('is no entry, either: it was never open', async () => {
    const { deps, payment, before } = await anExpired()

    const posting = { payment, by: { row: settledRowFor(payment) } }

    expect(await postPayments(deps, [posting])).toStrictEqual([undefined])
    expect(await stored(deps, payment)).toEqual(before)
  })
})

describe('the first time counts, and not the last', () => {
  const later = (deps: TestDeps) => addMs(deps.now(), 5_000)

  it.each<[string, (deps: TestDeps, payment: Payment, at: Timestamp) => Promise<unknown>]>([
    ['cancelRequestedAt', (deps, { paymentId }, at) => noteCancelRequested(deps, paymentId, at, addMs(at, 30_000))],
    ['expiryStartedAt', (deps, payment, at) => noteExpiryStarted(deps, payment, at)],
  ])('of %s', async (field, note) => {
    const deps = testDeps()
    const payment = await aPendingPayment(deps, await aStoredClient(deps))

    await note(deps, payment, deps.now())
    await note(deps, payment, later(deps))

    const dueAt = field === 'cancelRequestedAt' ? addMs(later(deps), 30_000) : payment.dueAt
    expect(await stored(deps, payment)).toMatchObject({ [field]: deps.now(), dueAt })
  })
})

describe('scheduleCheck and endCheck', () => {
  it('leave each other’s payments alone: one takes pending ones, the other those being created', async () => {
    const { deps, creating } = await aCreating()
    await rememberCapture(deps, creating, 'py-1', deps.now())
    const payment = await aPendingPayment(deps, await aStoredClient(deps))
    const { dueAt = deps.now() } = payment

    const scheduled = await scheduleCheck(deps, creating.paymentId, deps.now(), addMs(deps.now(), 1))
    const ended = await endCheck(deps, payment.paymentId, dueAt)

    expect([scheduled.applied, ended.applied]).toStrictEqual([false, false])
    expect(await stored(deps, creating)).toEqual({
      ...creating,
      rememberedProviderPaymentIds: new Set(['py-1']),
      dueAt: deps.now(),
    })
    expect(await stored(deps, payment)).toEqual(payment)
  })

  it('endCheck is refused when another capture was remembered since the claim', async () => {
    const { deps, creating } = await aCreating()
    await rememberCapture(deps, creating, 'py-1', deps.now())
    await rememberCapture(deps, creating, 'py-2', addMs(deps.now(), 1))

    const { applied } = await endCheck(deps, creating.paymentId, deps.now())

    expect(applied).toBe(false)
    expect(await stored(deps, creating)).toMatchObject({ rememberedProviderPaymentIds: new Set(['py-1', 'py-2']) })
  })
})
