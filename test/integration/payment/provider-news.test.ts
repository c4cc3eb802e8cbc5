import { describe, expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { checkSuspenseAlert, heldMoney, recordSuspense } from '../../../shared/suspense/record-suspense.ts'
import { eventKey, paymentKey } from '../../../shared/table/keys.ts'
import { beforeFirst } from '../../support/intercept-table.ts'
import { aPendingPayment, eventOf } from '../../support/payment-builders.ts'
import { type TestDeps } from '../../support/test-deps.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'
import { frozenAmong, paymentTest as it } from './payment-test.ts'

/** The provider has received money by a request that is not the payment's own. */
const captureUpstream = (deps: TestDeps, reference: string) => {
  const providerPaymentId = `py-${crypto.randomUUID()}`
  const captured = { currency: 'IDR', status: 'captured', capturedMinor: minor(5_000) } as const
  const of = { providerPaymentId, paymentRequestId: 'pr-orphan', reference }
  deps.provider.payments.set(providerPaymentId, { ...captured, ...of })
  return providerPaymentId
}

describe('money that may not be credited (design section 4)', () => {
  it('is held when its reference is not ours, or names no payment', async ({ scene: { deps, hear, held } }) => {
    for (const reference of ['another-merchants-order', `${crypto.randomUUID()}-1`]) {
      const providerPaymentId = captureUpstream(deps, reference)

      await hear({ providerPaymentId })

      expect(await held(providerPaymentId)).toMatchObject({ cause: 'unknown_reference', amountMinor: 5_000 })
    }
    expect(deps.published.map(({ kind }) => kind)).toStrictEqual(['suspense.money', 'suspense.money'])
  })

  it.for([
    ['the amount', { capturedMinor: minor(99_999) }, 'wrong_amount', 99_999, 'wrong_amount'],
    ['the currency', { currency: 'PHP' }, 'wrong_currency', 100_000, 'other'],
  ] as const)('is held, and the payment fails with its event, when %s is wrong', async (row, { scene }) => {
    const [, wrong, cause, amountMinor, failureReason] = row
    const { deps, pay, hear, stored, held, event, ledger } = scene
    const providerPaymentId = pay()
    const paid = deps.provider.payments.get(providerPaymentId)
    if (paid) deps.provider.payments.set(providerPaymentId, { ...paid, ...wrong })

    await Promise.all(Array.from({ length: 5 }, () => hear({ providerPaymentId })))

    expect(await stored()).toMatchObject({ status: 'failed', failureReason })
    expect(await held(providerPaymentId)).toMatchObject({ cause, amountMinor })
    expect(deps.published).toMatchObject([{ kind: 'suspense.money', subject: providerPaymentId }])
    expect(await event('payment.failed')).toBeDefined()
    expect(await ledger()).toStrictEqual({ pendingMinor: 0, failed: 1 })
  })

  it('keeps the alert due until it is published, also after a failing topic', async ({ scene: { deps, hear } }) => {
    const failing: TestDeps = { ...deps, alerts: { publish: () => Promise.reject(new Error('topic down')) } }
    const suspenseId = captureUpstream(deps, 'unknown')
    const check = (as: TestDeps, dueAt = deps.now()) => checkSuspenseAlert(as, { suspenseId, dueAt })

    await hear({ providerPaymentId: suspenseId }, failing)

    expect(deps.published).toHaveLength(0)
    deps.clock.advance(60)
    expect(await check(failing)).toBe(false)
    // One that cannot be published goes after the others, and comes back a minute later.
    expect(await check(deps)).toBe(false)
    deps.clock.advance(60)
    const done = await Promise.all([1, 2, 3].map(() => check(deps)))
    expect(done.filter(Boolean)).toHaveLength(1)
    expect(deps.published.map(({ subject }) => subject)).toStrictEqual([suspenseId])
    expect(await check(deps)).toBe(false)
  })
})

it('a capture whose payment is closed between read and write is held, and not lost', async ({ scene }) => {
  const { deps, payment, pay, hear, stored, held, ledger } = scene
  const providerPaymentId = pay()
  const close = () => closePayment(deps, payment, { status: 'cancelled', source: 'cancel' })

  await hear({ providerPaymentId }, beforeFirst(deps, 'transact', close))

  expect(await stored()).toMatchObject({ status: 'cancelled' })
  expect(await held(providerPaymentId)).toMatchObject({ cause: 'payment_not_pending' })
  expect(await ledger()).toStrictEqual({ pendingMinor: 0, cancelled: 1 })
})

it('a closing status whose payment is paid between read and write changes nothing any more', async ({ scene }) => {
  const { deps, payment, pay, request, hear, stored, ledger } = scene
  const providerPaymentId = pay()
  const value = { ...request(), status: 'expired', latestPaymentId: undefined } as const
  deps.provider.script('getRequest', async () => ({ kind: 'found', value }))
  const raced = beforeFirst(deps, 'transact', () => hear({ providerPaymentId }))

  await hear({ paymentRequestId: payment.paymentRequestId }, raced)

  expect(await stored()).toMatchObject({ status: 'succeeded' })
  expect(await ledger()).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
})

it('money that is already held and reported fails the payment, and is not reported again', async ({ scene }) => {
  const { deps, payment, pay, stored } = scene
  const capture = { providerPaymentId: pay(), capturedMinor: minor(99_999) }
  const held = heldMoney({ capture, cause: 'wrong_amount', payment, now: deps.now() })
  await recordSuspense(deps, held)

  await closePayment(deps, payment, { status: 'failed', source: 'callback', held })

  expect(await stored()).toMatchObject({ status: 'failed' })
  expect(deps.published).toHaveLength(1)
  expect(await dueAtOf(deps, 'alert', capture.providerPaymentId)).toBeUndefined()
})

describe('a cancel whose payment is paid meanwhile', () => {
  it.for([
    ['before its own note: the provider is asked for nothing', 'update', 0],
    ['after the provider could not cancel', 'transact', 1],
  ] as const)('answers by the status that is kept %s', async ([, kind, asked], { scene }) => {
    const { deps, pay, hear, cancel, ledger } = scene
    const providerPaymentId = pay()
    deps.provider.script('cancelRequest', async () => ({ kind: 'not_cancellable' }))
    const raced = beforeFirst(deps, kind, () => hear({ providerPaymentId }))

    await expect(cancel(raced)).rejects.toThrow('payment cannot be cancelled in status=succeeded')

    expect(deps.provider.countOf('cancelRequest')).toBe(asked)
    expect(await ledger()).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
  })
})

describe('a capture on a pending payment (spec 3.1)', () => {
  it('marks it succeeded, credits its net and writes its event, in one go, by its estimate', async ({ scene }) => {
    const { deps, payment, pay, hear, stored, ledger, event } = scene
    const providerPaymentId = pay()
    deps.clock.advance(60)

    expect((await hear({ providerPaymentId })).kind).toBe('applied')

    const paid = { status: 'succeeded', paidAt: '2026-11-20T04:01:00.000Z', openAt: deps.now() }
    const fee = { feeStatus: 'estimated', providerFeeMinor: 4_000, netMinor: 95_900 }
    expect(await stored()).toMatchObject({ ...paid, ...fee, creditedProviderPaymentId: providerPaymentId })
    expect(await ledger()).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
    const told = await event('payment.succeeded')
    const data = { id: payment.paymentId, status: 'succeeded', paid_at: deps.now(), client_net_minor: 95_900 }
    expect(JSON.parse(String(told?.['body']))).toMatchObject({
      event: 'payment.succeeded',
      event_id: told?.['id'],
      timestamp: deps.now(),
      data: { ...data, fee_status: 'estimated' },
    })
    expect(deps.provider.countOf('listTransactions')).toBe(0)
  })
})

it('paid_at is fresh when it is written: no window has passed it', async ({ scene: { deps, pay, hear, stored } }) => {
  await hear({ providerPaymentId: pay() }, frozenAmong(deps, 1, 2 * 86_400))

  expect(await stored()).toMatchObject({ status: 'succeeded', paidAt: deps.now() })
})

describe('the time of an event', () => {
  const EXPIRED = { status: 'expired', source: 'due_work' } as const

  it('is fresh when a payment expires: no reader of events has passed it', async ({ deps, client, scene }) => {
    const { payment, event } = scene
    const fresh = await aPendingPayment(deps, client)

    const closed = await closePayment(frozenAmong(deps, 2, 3_600), payment, EXPIRED)
    const at = deps.now()
    await closePayment(frozenAmong(deps, 1, 4), fresh, EXPIRED)

    expect(closed?.transitions.at(-1)).toMatchObject({ at })
    const told = await event('payment.expired')
    expect([told?.['listedAt'], JSON.parse(String(told?.['body'])).timestamp]).toStrictEqual([at, at])
    expect(await eventOf(deps, fresh, 'payment.expired')).toMatchObject({ listedAt: at })
  })

  it('is renewed for a few conflicts only: then the payment stays as it was, and due', async ({ scene }) => {
    const { deps, payment, stored } = scene

    await expect(closePayment(frozenAmong(deps, 12, 6), payment, EXPIRED)).rejects.toThrow('conflicting writes')

    expect(await stored()).toEqual(payment)
  })
})

it('rows of a payment repeat no field of keys and indexes', async ({ scene: { deps, payment, pay, hear } }) => {
  await hear({ providerPaymentId: pay() })

  const row = await deps.table.get(paymentKey(payment.paymentId))
  const event = await deps.table.get(eventKey(payment.paymentId, 'payment.succeeded'))
  expect(row).toMatchObject({ status: 'succeeded' })
  for (const name of ['paymentId', 'createdAt', 'currency']) expect(row).not.toHaveProperty(name)
  for (const name of ['eventId', 'type', 'clientId', 'paymentId', 'firedAt']) expect(event).not.toHaveProperty(name)
})
