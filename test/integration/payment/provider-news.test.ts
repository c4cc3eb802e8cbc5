import { describe, expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { checkSuspenseAlert, recordSuspense } from '../../../shared/suspense/record-suspense.ts'
import { inflateText } from '../../../shared/table/deflated-text.ts'
import { someHeldMoney } from '../../support/money-rows.ts'
import { aPendingPayment, eventOf } from '../../support/payment-builders.ts'
import { beforeCommit, beforeFirst, type TestDeps, withoutTopic } from '../../support/test-deps.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'
import { paymentTest as it, withFrozenConflicts } from './payment-test.ts'

function captureUpstream(deps: TestDeps, reference: string, amount = 5_000) {
  const providerPaymentId = `py-${crypto.randomUUID()}`
  deps.provider.payments.set(providerPaymentId, {
    currency: 'IDR',
    status: 'captured',
    capturedMinor: minor(amount),
    reference,
    providerPaymentId,
    paymentRequestId: 'pr-orphan',
  })
  return providerPaymentId
}

describe('a state that no document names', () => {
  it.for(['request', 'latest payment', 'payment of the callback'])(
    'of the %s changes nothing and is a finding; the capture credits the payment',
    async (object, { scene }) => {
      const { deps, payment, request, pay, notify, reread, suspenseOf } = scene
      const providerPaymentId = pay()
      const paid = deps.provider.payments.get(providerPaymentId)
      if (paid === undefined) throw new Error('the provider has no such payment')
      if (object !== 'request')
        deps.provider.payments.set(providerPaymentId, { ...paid, status: 'unknown' })
      const status = object === 'request' ? 'unknown' : 'expired'
      request({ status, ...(object === 'request' && { latestPaymentId: undefined }) })
      const subject = object === 'payment of the callback' ? { providerPaymentId } : undefined

      expect(await notify(subject)).toMatchObject({ kind: 'applied' })

      expect(await reread()).toEqual(payment)
      expect(await suspenseOf(`${payment.paymentId}#state_unknown`)).toMatchObject({
        kind: 'finding',
        status: 'open',
        clientId: payment.clientId,
      })
      deps.provider.payments.set(providerPaymentId, paid)
      await notify({ providerPaymentId })
      expect(await reread()).toMatchObject({ status: 'succeeded' })
    },
  )
})

describe('money that must not be credited (design section 4)', () => {
  it('goes to suspense when its reference names no payment', async ({
    scene: { deps, notify, suspenseOf },
  }) => {
    for (const reference of ['another-merchants-order', `${crypto.randomUUID()}-1`]) {
      const providerPaymentId = captureUpstream(deps, reference)

      await notify({ providerPaymentId })

      expect(await suspenseOf(providerPaymentId)).toMatchObject({
        cause: 'unknown_reference',
        amountMinor: 5_000,
      })
    }
    expect(deps.published.map(({ kind }) => kind)).toStrictEqual([
      'suspense.money',
      'suspense.money',
    ])
  })

  it.for([
    ['the amount', { capturedMinor: minor(99_999) }, 'wrong_amount', 99_999, 'wrong_amount'],
    ['the currency', { currency: 'PHP' }, 'wrong_currency', 100_000, 'other'],
  ] as const)(
    'goes to suspense, and the payment fails with its event, when %s is wrong',
    async (row, { scene }) => {
      const [, wrongFields, cause, amountMinor, failureReason] = row
      const { deps, pay, notify, reread, suspenseOf, event, ledger } = scene
      const providerPaymentId = pay()
      const capture = deps.provider.payments.get(providerPaymentId)
      if (capture) deps.provider.payments.set(providerPaymentId, { ...capture, ...wrongFields })

      await Promise.all(Array.from({ length: 5 }, () => notify({ providerPaymentId })))

      expect(await reread()).toMatchObject({ status: 'failed', failureReason })
      expect(await suspenseOf(providerPaymentId)).toMatchObject({ cause, amountMinor })
      expect(deps.published).toMatchObject([{ subject: providerPaymentId }])
      expect(deps.published[0]?.message).toContain(cause === 'wrong_amount' ? 'IDR' : 'of another')
      expect(await event('payment.failed')).toBeDefined()
      expect(await ledger()).toStrictEqual({ pendingMinor: 0, failed: 1 })
    },
  )

  it('has a due alert until the alert is published, even if the topic fails', async ({
    scene: { deps, notify },
  }) => {
    const failing = withoutTopic(deps)
    const suspenseId = captureUpstream(deps, 'unknown')
    const check = (checkDeps: TestDeps, dueAt = deps.now()) =>
      checkSuspenseAlert(checkDeps, { suspenseId, dueAt })

    await notify({ providerPaymentId: suspenseId }, failing)

    expect(deps.published).toHaveLength(0)
    deps.clock.advance(60)
    expect(await check(failing)).toBe(false)
    // A failed alert is due again a minute later, so that it does not block other alerts.
    expect(await check(deps)).toBe(false)
    deps.clock.advance(60)
    expect((await Promise.all([1, 2, 3].map(() => check(deps)))).filter(Boolean)).toHaveLength(1)
    expect(deps.published.map(({ subject }) => subject)).toStrictEqual([suspenseId])
    expect(await check(deps)).toBe(false)
  })
})

it('a capture goes to suspense if its payment is cancelled between read and write', async ({
  scene,
}) => {
  const { deps, payment, pay, notify, reread, suspenseOf, ledger } = scene
  const providerPaymentId = pay()
  const close = () => closePayment(deps, payment, { status: 'cancelled', source: 'cancel' })

  await notify({ providerPaymentId }, beforeCommit(deps, close))

  expect(await reread()).toMatchObject({ status: 'cancelled' })
  expect(await suspenseOf(providerPaymentId)).toMatchObject({ cause: 'payment_not_pending' })
  expect(await ledger()).toStrictEqual({ pendingMinor: 0, cancelled: 1 })
})

it('an expiry changes nothing if the payment is paid between read and write', async ({ scene }) => {
  const { deps, payment, pay, request, notify, reread, ledger } = scene
  const providerPaymentId = pay()
  const value = { ...request(), status: 'expired', latestPaymentId: undefined } as const
  deps.provider.answer('getRequest', { kind: 'found', value })
  const raced = beforeCommit(deps, () => notify({ providerPaymentId }))

  await notify({ paymentRequestId: payment.paymentRequestId }, raced)

  expect(await reread()).toMatchObject({ status: 'succeeded' })
  expect(await ledger()).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
})

it('a payment fails when its wrong amount is already in suspense, without a second alert', async ({
  scene,
}) => {
  const { deps, payment, pay, reread } = scene
  const heldItem = someHeldMoney(deps, pay(), 99_999, { cause: 'wrong_amount', payment })
  await recordSuspense(deps, heldItem)

  await closePayment(deps, payment, { status: 'failed', source: 'callback', held: heldItem })

  expect(await reread()).toMatchObject({ status: 'failed' })
  expect(deps.published).toHaveLength(1)
  expect(await dueAtOf(deps, 'alert', heldItem.suspenseId)).toBeUndefined()
})

it.for([
  ['before the cancel request is stored: the provider is not called', 'update', 0],
  ['after the provider refused the cancel', 'transact', 1],
] as const)(
  'a cancel is refused with the status succeeded if paid %s',
  async ([, kind, cancelCalls], { scene }) => {
    const { deps, pay, notify, cancel, ledger } = scene
    const providerPaymentId = pay()
    deps.provider.answer('cancelRequest', { kind: 'not_cancellable' })
    const raced = beforeFirst(deps, kind, () => notify({ providerPaymentId }))

    await expect(cancel(raced)).rejects.toThrow('payment cannot be cancelled in status=succeeded')

    expect(deps.provider.countOf('cancelRequest')).toBe(cancelCalls)
    expect(await ledger()).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
  },
)

it('a capture (spec 3.1) ends its payment, credits its estimated net and writes its event', async ({
  scene,
}) => {
  const { deps, payment, pay, notify, reread, ledger, event } = scene
  const providerPaymentId = pay()
  deps.clock.advance(60)

  expect((await notify({ providerPaymentId })).kind).toBe('applied')

  expect(await reread()).toMatchObject({
    status: 'succeeded',
    paidAt: '2026-11-20T04:01:00.000Z',
    openAt: deps.now(),
    feeStatus: 'estimated',
    providerFeeMinor: 4_000,
    netMinor: 95_900,
    capture: { providerPaymentId },
  })
  expect(await ledger()).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
  const row = await event('payment.succeeded')
  const data = {
    id: payment.paymentId,
    status: 'succeeded',
    paid_at: deps.now(),
    client_net_minor: 95_900,
  }
  expect(JSON.parse(String(inflateText(row?.['body'])))).toMatchObject({
    event: 'payment.succeeded',
    event_id: row?.['id'],
    timestamp: deps.now(),
    data: { ...data, fee_status: 'estimated' },
  })
  expect(deps.provider.countOf('listTransactions')).toBe(0)
})

it('a capture of another attempt credits the payment and cancels the destination that is shown', async ({
  scene: { deps, notify, reread, request },
}) => {
  const providerPaymentId = captureUpstream(deps, request().reference, 100_000)

  await notify({ providerPaymentId })

  expect(await reread()).toMatchObject({ status: 'succeeded' })
  expect(request()).toMatchObject({ status: 'cancelled' })
})

it.for(['failed', 'expired'] as const)(
  'a request that is %s upstream (spec 3.1) ends its payment with its event, and credits nothing',
  async (status, { scene: { deps, payment, notify, reread, ledger, event } }) => {
    deps.provider.close(payment.paymentRequestId, status)

    await notify()

    expect(await reread()).toMatchObject({ status })
    const { body } = (await event(`payment.${status}`)) ?? {}
    const data = { id: payment.paymentId, status }
    expect(JSON.parse(String(inflateText(body)))).toMatchObject({
      event: `payment.${status}`,
      data,
    })
    expect(await ledger()).toStrictEqual({ pendingMinor: 0, [status]: 1 })
  },
)

it('paid_at is recomputed after a long conflict', async ({
  scene: { deps, pay, notify, reread },
}) => {
  await notify({ providerPaymentId: pay() }, withFrozenConflicts(deps, 1, 2 * 86_400))

  expect(await reread()).toMatchObject({ status: 'succeeded', paidAt: deps.now() })
})

describe('the time of an event', () => {
  const EXPIRED = { status: 'expired', source: 'due_work' } as const

  it('is recomputed after a long conflict: no reader has passed it', async ({
    deps,
    client,
    scene,
  }) => {
    const { payment, event } = scene
    const secondPayment = await aPendingPayment(deps, client)

    const closed = await closePayment(withFrozenConflicts(deps, 2, 3_600), payment, EXPIRED)
    const at = deps.now()
    await closePayment(withFrozenConflicts(deps, 1, 4), secondPayment, EXPIRED)

    expect(closed?.transitions.at(-1)).toMatchObject({ at })
    const row = await event('payment.expired')
    expect([
      row?.['listedAt'],
      JSON.parse(String(inflateText(row?.['body']))).timestamp,
    ]).toStrictEqual([at, at])
    expect(await eventOf(deps, secondPayment, 'payment.expired')).toMatchObject({ listedAt: at })
  })

  it('is recomputed at most twelve times; then the payment stays unchanged and due', async ({
    scene,
  }) => {
    const { deps, payment, reread } = scene

    await expect(closePayment(withFrozenConflicts(deps, 12, 6), payment, EXPIRED)).rejects.toThrow(
      'conflicting writes',
    )

    expect(await reread()).toEqual(payment)
  })
})

it('an expired request closes no payment while the provider does not answer about its money', async ({
  scene,
}) => {
  const { deps, pay, request, notify, reread } = scene
  pay()
  request({ status: 'expired' })
  deps.provider.silence('getPayment', 'server_error')

  expect(await notify()).toMatchObject({ kind: 'unanswered' })
  expect(await reread()).toMatchObject({ status: 'pending' })
})
