import { describe, expect, it } from 'vitest'
import { checkAlert } from '../../shared/due-work/due-workers.ts'
import { minor } from '../../shared/money.ts'
import { applyProviderReport } from '../../shared/payment/apply-provider-report.ts'
import { cancelPayment } from '../../shared/payment/cancel-payment.ts'
import { checkDuePayment } from '../../shared/payment/check-due-payment.ts'
import type { Payment } from '../../shared/payment/payment.ts'
import { findStoredPayment } from '../../shared/payment/payment-store.ts'
import { referenceOf } from '../../shared/payment/provider-attempts.ts'
import type { ProviderTransaction } from '../../shared/provider/provider.ts'
import { findSuspense } from '../../shared/suspense/suspense-store.ts'
import { eventKey, paymentKey, suspenseKey } from '../../shared/table/keys.ts'
import { getItem } from '../../shared/table/read.ts'
import { ledgerView } from '../support/ledger-view.ts'
import { aPendingPayment, aRequest, aStoredClient, create, OVO_REQUEST } from '../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../support/test-deps.ts'

const eventOf = (deps: TestDeps, payment: Pick<Payment, 'paymentId'>, type: string) =>
  getItem(deps, eventKey(payment.paymentId, type))

const aTransaction = (providerPaymentId: string, fields: Partial<ProviderTransaction> = {}): ProviderTransaction => ({
  transactionId: 'txn_1',
  providerPaymentId,
  paymentRequestId: undefined,
  reference: 'any',
  status: 'success',
  currency: 'IDR',
  amountMinor: minor(100_000),
  keptMinor: minor(4_440),
  settledAt: undefined,
  updatedAt: '2026-11-20T04:00:00.000Z' as ProviderTransaction['updatedAt'],
  ...fields,
})

const aPaid = async () => {
  const deps = testDeps()
  const client = await aStoredClient(deps)
  const payment = await aPendingPayment(deps, client)
  const providerPaymentId = deps.provider.pay(payment.paymentRequestId)
  return { deps, client, payment, providerPaymentId }
}

describe('a capture on a pending payment (spec 3.1)', () => {
  it('marks it succeeded, credits its net and writes its event, in one go', async () => {
    const { deps, client, payment, providerPaymentId } = await aPaid()
    deps.clock.advance(60)

    const outcome = await applyProviderReport(deps, { providerPaymentId }, 'callback')

    expect(outcome.kind).toBe('applied')
    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({
      status: 'succeeded',
      paidAt: '2026-11-20T04:01:00.000Z',
      creditedPaymentId: providerPaymentId,
      feeStatus: 'estimated',
      netMinor: 95_900,
    })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
    const event = await eventOf(deps, payment, 'payment.succeeded')
    expect(JSON.parse(String(event?.['body']))).toMatchObject({
      event: 'payment.succeeded',
      event_id: event?.['eventId'],
      timestamp: '2026-11-20T04:01:00.000Z',
      data: {
        id: payment.paymentId,
        status: 'succeeded',
        paid_at: '2026-11-20T04:01:00.000Z',
        client_net_minor: 95_900,
      },
    })
  })

  it('is credited once when 50 callbacks and due work bring it at the same time', async () => {
    const { deps, client, payment, providerPaymentId } = await aPaid()
    const dueAt = payment.dueAt ?? deps.now()

    const outcomes = await Promise.all([
      ...Array.from({ length: 50 }, () => applyProviderReport(deps, { providerPaymentId }, 'callback')),
      checkDuePayment(deps, { paymentId: payment.paymentId, dueAt }),
    ])

    expect(outcomes.slice(0, 50).every((outcome) => typeof outcome === 'object' && outcome.kind === 'applied')).toBe(
      true,
    )
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
    expect(deps.lines.filter(({ code }) => code === 'payment.succeeded')).toHaveLength(1)
    expect(await findSuspense(deps, providerPaymentId)).toBeUndefined()
  })

  it('replaces the estimate by the actual fee when the provider knows it already', async () => {
    const { deps, client, payment, providerPaymentId } = await aPaid()
    deps.provider.script('listTransactions', async () => ({
      kind: 'found',
      value: { transactions: [aTransaction(providerPaymentId)], hasMore: false },
    }))

    await applyProviderReport(deps, { providerPaymentId }, 'callback')

    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({
      providerFeeMinor: 4_440,
      netMinor: 95_460,
      feeStatus: 'actual',
    })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_460, succeeded: 1 })
  })

  it('keeps the estimate and notes a finding when the provider claims to have kept nothing', async () => {
    const { deps, payment, providerPaymentId } = await aPaid()
    deps.provider.script('listTransactions', async () => ({
      kind: 'found',
      value: { transactions: [aTransaction(providerPaymentId, { keptMinor: minor(0) })], hasMore: false },
    }))

    await applyProviderReport(deps, { providerPaymentId }, 'callback')

    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ feeStatus: 'estimated', netMinor: 95_900 })
    expect(await findSuspense(deps, `${payment.paymentId}#zero_fee`)).toMatchObject({ kind: 'finding' })
    expect(deps.published.map(({ kind }) => kind)).toStrictEqual(['suspense.finding'])
  })

  it('is found through the request when only that is known', async () => {
    const { deps, payment } = await aPaid()

    await applyProviderReport(deps, { paymentRequestId: payment.paymentRequestId }, 'operator')

    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status: 'succeeded' })
  })

  it('changes nothing when the hint is forged and the provider says unpaid', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    const payment = await aPendingPayment(deps, client)

    const outcome = await applyProviderReport(
      deps,
      { providerPaymentId: 'py-made-up', paymentRequestId: payment.paymentRequestId },
      'callback',
    )

    expect(outcome.kind).toBe('applied')
    expect(await findStoredPayment(deps, payment.paymentId)).toEqual(payment)
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })

  it('closes nothing while the provider cannot be asked about the money', async () => {
    const { deps, payment } = await aPaid()
    deps.provider.script('getPayment', async () => ({ kind: 'unanswered', reason: 'unreachable' }))

    const outcome = await applyProviderReport(deps, { paymentRequestId: payment.paymentRequestId }, 'callback')

    expect(outcome).toStrictEqual({ kind: 'unanswered', reason: 'unreachable' })
    expect(await findStoredPayment(deps, payment.paymentId)).toEqual(payment)
  })
})

describe('money that may not be credited (design section 4)', () => {
  it.each(['failed', 'expired', 'cancelled'] as const)('is held when the payment is %s already', async (status) => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    const payment = await aPendingPayment(deps, client)
    if (status === 'cancelled') await cancelPayment(deps, { clientId: client.clientId, id: payment.paymentId })
    else deps.provider.close(payment.paymentRequestId, status)
    await applyProviderReport(deps, { paymentRequestId: payment.paymentRequestId }, 'callback')
    const providerPaymentId = deps.provider.pay(payment.paymentRequestId)

    await applyProviderReport(deps, { providerPaymentId }, 'callback')
    await applyProviderReport(deps, { providerPaymentId }, 'callback')

    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status })
    expect(await findSuspense(deps, providerPaymentId)).toMatchObject({
      kind: 'money',
      cause: 'payment_not_pending',
      amountMinor: 100_000,
      paymentId: payment.paymentId,
      status: 'open',
    })
    expect(deps.published).toHaveLength(1)
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, [status]: 1 })
  })

  it('is held when a reference is not one of ours, and when it names a payment that does not exist', async () => {
    const deps = testDeps()
    for (const reference of ['somebody-elses-order', `${crypto.randomUUID()}-1`]) {
      const providerPaymentId = `py-${crypto.randomUUID()}`
      deps.provider.payments.set(providerPaymentId, {
        providerPaymentId,
        paymentRequestId: 'pr-unknown',
        reference,
        currency: 'IDR',
        status: 'captured',
        capturedMinor: minor(5_000),
      })

      await applyProviderReport(deps, { providerPaymentId }, 'callback')

      expect(await findSuspense(deps, providerPaymentId)).toMatchObject({
        cause: 'unknown_reference',
        amountMinor: 5_000,
      })
    }
    expect(deps.published.map(({ kind }) => kind)).toStrictEqual(['suspense.money', 'suspense.money'])
  })

  it('is held when a second capture arrives for a payment that was credited', async () => {
    const { deps, client, payment, providerPaymentId } = await aPaid()
    await applyProviderReport(deps, { providerPaymentId }, 'callback')
    const second = deps.provider.pay(payment.paymentRequestId)

    await applyProviderReport(deps, { providerPaymentId: second }, 'callback')

    expect(await findSuspense(deps, second)).toMatchObject({ cause: 'second_capture' })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
  })

  it('is held, and the payment fails with its event, when the amount is wrong', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    const payment = await aPendingPayment(deps, client)
    const providerPaymentId = deps.provider.pay(payment.paymentRequestId, 99_999)

    await Promise.all(Array.from({ length: 5 }, () => applyProviderReport(deps, { providerPaymentId }, 'callback')))

    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status: 'failed' })
    expect(await findSuspense(deps, providerPaymentId)).toMatchObject({ cause: 'wrong_amount', amountMinor: 99_999 })
    expect(await eventOf(deps, payment, 'payment.failed')).toBeDefined()
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, failed: 1 })
  })

  it("is held without closing the payment when the wrong amount came through another attempt's request", async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    const payment = await aPendingPayment(deps, client)
    const providerPaymentId = 'py-orphan-wrong'
    deps.provider.payments.set(providerPaymentId, {
      providerPaymentId,
      paymentRequestId: 'pr-orphan',
      reference: referenceOf(payment.paymentId, 1),
      currency: 'IDR',
      status: 'captured',
      capturedMinor: minor(1),
    })

    await applyProviderReport(deps, { providerPaymentId }, 'callback')

    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status: 'pending' })
    expect(await findSuspense(deps, providerPaymentId)).toMatchObject({ cause: 'wrong_amount' })
  })

  it('keeps the alert due until it is published, and tells the operators even after a failing topic', async () => {
    const deps = testDeps()
    const failing: TestDeps = { ...deps, alerts: { publish: () => Promise.reject(new Error('topic down')) } }
    const providerPaymentId = `py-${crypto.randomUUID()}`
    deps.provider.payments.set(providerPaymentId, {
      providerPaymentId,
      paymentRequestId: 'pr-x',
      reference: 'unknown',
      currency: 'IDR',
      status: 'captured',
      capturedMinor: minor(5_000),
    })

    await applyProviderReport(failing, { providerPaymentId }, 'callback')

    expect(deps.published).toHaveLength(0)
    const done = await checkAlert(deps, { ...suspenseKey(providerPaymentId), id: providerPaymentId, dueAt: deps.now() })
    expect(done).toBe('done')
    expect(deps.published.map(({ subject }) => subject)).toStrictEqual([providerPaymentId])
  })
})

describe('a request that ends without money', () => {
  it.each([
    ['failed', 'failed', 'payment.failed'],
    ['expired', 'expired', 'payment.expired'],
    ['cancelled', 'failed', 'payment.failed'],
  ] as const)('%s upstream makes the payment %s, with its event', async (upstream, status, eventType) => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    const payment = await aPendingPayment(deps, client)
    deps.provider.close(payment.paymentRequestId, upstream)

    await applyProviderReport(deps, { paymentRequestId: payment.paymentRequestId }, 'callback')

    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status })
    expect(await eventOf(deps, payment, eventType)).toMatchObject({ owner: client.clientId, entity: 'event' })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, [status]: 1 })
  })

  it('cancelled upstream past the expiry makes the payment expired', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    const payment = await aPendingPayment(deps, client)
    deps.provider.close(payment.paymentRequestId, 'cancelled')
    deps.clock.advance(86_400)

    await applyProviderReport(deps, { paymentRequestId: payment.paymentRequestId }, 'callback')

    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status: 'expired' })
  })

  it("changes nothing when it is another attempt's request", async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    const payment = await aPendingPayment(deps, client)
    const own = deps.provider.requests.get(payment.paymentRequestId)
    if (own) deps.provider.requests.set('pr-orphan', { ...own, paymentRequestId: 'pr-orphan', status: 'expired' })

    await applyProviderReport(deps, { paymentRequestId: 'pr-orphan' }, 'callback')

    expect(await findStoredPayment(deps, payment.paymentId)).toEqual(payment)
  })
})

describe('a capture while the payment is still being created (OVO answers at once)', () => {
  /** The provider has the request and the money; our attempt has not heard of either. */
  const paidWhileCreating = async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    const upstream = testDeps().provider
    const answer = Promise.withResolvers<void>()
    deps.provider.script('createRequest', async (input, timeoutMs) => {
      const created = await upstream.createRequest(input, timeoutMs)
      await answer.promise
      return created
    })
    for (const name of ['getRequest', 'getPayment', 'cancelRequest'] as const)
      deps.provider.script(name, upstream[name])
    const creating = create(deps, client, aRequest(OVO_REQUEST), 'key-1')
    await expect.poll(() => upstream.requests.size).toBe(1)
    const [paymentRequestId = ''] = upstream.requests.keys()
    const providerPaymentId = upstream.pay(paymentRequestId)
    return { deps, client, creating, answer, providerPaymentId, paymentRequestId }
  }

  it('is remembered under a live lease, and credited by due work once the payment is there', async () => {
    const { deps, client, creating, answer, providerPaymentId } = await paidWhileCreating()

    const outcome = await applyProviderReport(deps, { providerPaymentId }, 'callback')
    answer.resolve()
    const { payment } = await creating
    const checked = await checkDuePayment(deps, { paymentId: payment.paymentId, dueAt: payment.dueAt ?? deps.now() })

    expect(outcome).toStrictEqual({ kind: 'deferred' })
    expect(payment).toMatchObject({ status: 'pending', dueAt: deps.now() })
    expect(checked).toBe('checked')
    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status: 'succeeded' })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 97_900, succeeded: 1 })
    expect(await findSuspense(deps, providerPaymentId)).toBeUndefined()
  })

  it('makes the payment succeed from the stored request once the lease is over, and the late attempt replays it', async () => {
    const { deps, client, creating, answer, providerPaymentId } = await paidWhileCreating()
    deps.clock.advance(31)

    const outcome = await applyProviderReport(deps, { providerPaymentId }, 'callback')
    answer.resolve()
    const late = await creating

    expect(outcome.kind).toBe('applied')
    expect(late.payment).toMatchObject({ status: 'succeeded', creditedPaymentId: providerPaymentId })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 97_900, succeeded: 1 })
    expect(await findSuspense(deps, providerPaymentId)).toBeUndefined()
  })

  it('is credited by due work when the attempt died and no callback ever comes again', async () => {
    const { deps, client, creating, providerPaymentId } = await paidWhileCreating()
    void creating.catch(() => undefined)
    await applyProviderReport(deps, { providerPaymentId }, 'callback')
    deps.clock.advance(31)
    const [attempted] = deps.provider.calls
    const paymentId = (attempted?.id ?? '').slice(0, 36) as Payment['paymentId']
    const item = await getItem(deps, paymentKey(paymentId))

    const checked = await checkDuePayment(deps, { paymentId, dueAt: item?.['dueAt'] as Payment['createdAt'] })

    expect(checked).toBe('checked')
    expect(await findStoredPayment(deps, paymentId)).toMatchObject({ status: 'succeeded', paymentDestination: '' })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 97_900, succeeded: 1 })
  })

  it('is credited when it was paid on a first attempt nobody heard of, and the request shown is cancelled', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    const upstream = testDeps().provider
    for (const name of ['getRequest', 'getPayment', 'cancelRequest'] as const)
      deps.provider.script(name, upstream[name])
    deps.provider.script('createRequest', async (input, timeoutMs) => {
      await upstream.createRequest(input, timeoutMs)
      return { kind: 'unknown', reason: 'timeout' }
    })
    await create(deps, client, aRequest(), 'key-1').catch(() => undefined)
    deps.provider.script('createRequest', upstream.createRequest)
    const { payment } = await create(deps, client, aRequest(), 'key-1')
    const [unseen = ''] = upstream.requests.keys()
    const providerPaymentId = upstream.pay(unseen)

    await applyProviderReport(deps, { providerPaymentId }, 'callback')

    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status: 'succeeded' })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
    expect(upstream.requests.get(payment.paymentRequestId)?.status).toBe('cancelled')
  })
})
