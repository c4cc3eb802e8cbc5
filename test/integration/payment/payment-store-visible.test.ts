import { describe, expect, it } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { rememberCapture } from '../../../shared/payment/creating-store.ts'
import { makeFeeFinal, noteProviderSettled } from '../../../shared/payment/fee/fee-store.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import {
  endCheck,
  findStoredPayment,
  leavePending,
  markDueNow,
  noteCancelRequested,
  noteExpiryStarted,
  scheduleCheck,
} from '../../../shared/payment/payment-store.ts'
import { addMs } from '../../../shared/time.ts'
import { aCreating, aPaid, aPendingPayment, aStoredClient } from '../../support/payment-builders.ts'
import { aSucceededPayment } from '../../support/settlement-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'

const stored = (deps: TestDeps, { paymentId }: Pick<Payment, 'paymentId'>) => findStoredPayment(deps, paymentId)

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

describe('leavePending once the expiry has begun', () => {
  it('is refused for a cancel, whose merchant nobody can tell from us any more, and for nothing else', async () => {
    const { deps, payment } = await aPaid()
    await noteExpiryStarted(deps, payment.paymentId, deps.now())

    const cancelled = await deps.table.transact({ payment: leavePending({ ...payment, status: 'cancelled' }) })
    const expired = await deps.table.transact({ payment: leavePending({ ...payment, status: 'expired' }) })

    expect([cancelled.applied, expired.applied]).toStrictEqual([false, true])
  })
})

describe('what may be written to a payment that is terminal', () => {
  const anExpired = async () => {
    const { deps, payment } = await aPaid()
    await deps.table.transact({ payment: leavePending({ ...payment, status: 'expired' }) })
    return { deps, payment, before: await stored(deps, payment) }
  }

  it('is no beginning of its expiry', async () => {
    const { deps, payment, before } = await anExpired()

    const { applied } = await noteExpiryStarted(deps, payment.paymentId, deps.now())

    expect(applied).toBe(false)
    expect(await stored(deps, payment)).toEqual(before)
  })

  it('is no due time', async () => {
    const { deps, payment, before } = await anExpired()

    const { applied } = await markDueNow(deps, payment.paymentId, deps.now())

    expect(applied).toBe(false)
    expect(await stored(deps, payment)).toEqual(before)
    expect(await dueAtOf(deps, 'payment', payment.paymentId)).toBeUndefined()
  })

  it('is neither a final fee nor a payout of the provider, since no money was credited', async () => {
    const { deps, payment, before } = await anExpired()

    const fee = await makeFeeFinal(deps, payment, { status: 'actual', feeMinor: minor(1) })
    const settled = await noteProviderSettled(deps, payment, deps.now())

    expect([fee, settled.applied]).toStrictEqual([undefined, false])
    expect(await stored(deps, payment)).toEqual(before)
  })
})

describe('noteProviderSettled', () => {
  it('keeps the first time the provider’s money came', async () => {
    const deps = testDeps()
    const payment = await aSucceededPayment(deps, await aStoredClient(deps))

    await noteProviderSettled(deps, payment, deps.now())
    await noteProviderSettled(deps, payment, addMs(deps.now(), 5_000))

    expect(await stored(deps, payment)).toMatchObject({ providerSettledAt: deps.now() })
  })
})

describe('noteCancelRequested', () => {
  it('keeps the first time it was asked for', async () => {
    const deps = testDeps()
    const payment = await aPendingPayment(deps, await aStoredClient(deps))
    const first = deps.now()

    await noteCancelRequested(deps, payment.paymentId, first, addMs(first, 30_000))
    await noteCancelRequested(deps, payment.paymentId, addMs(first, 5_000), addMs(first, 35_000))

    expect(await stored(deps, payment)).toMatchObject({ cancelRequestedAt: first, dueAt: addMs(first, 35_000) })
  })

  it('is refused once the expiry has begun', async () => {
    const deps = testDeps()
    const payment = await aPendingPayment(deps, await aStoredClient(deps))
    await noteExpiryStarted(deps, payment.paymentId, deps.now())
    const before = await stored(deps, payment)

    const noted = await noteCancelRequested(deps, payment.paymentId, deps.now(), deps.now())

    expect(noted.applied).toBe(false)
    expect(await stored(deps, payment)).toEqual(before)
  })
})

describe('noteExpiryStarted', () => {
  it('keeps the first time it was begun', async () => {
    const deps = testDeps()
    const payment = await aPendingPayment(deps, await aStoredClient(deps))
    const first = deps.now()

    await noteExpiryStarted(deps, payment.paymentId, first)
    await noteExpiryStarted(deps, payment.paymentId, addMs(first, 5_000))

    expect(await stored(deps, payment)).toMatchObject({ expiryStartedAt: first })
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
