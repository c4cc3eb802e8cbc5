import { describe, expect, it } from 'vitest'
import { minor } from '../../shared/money.ts'
import type { CreateAnswer, ProviderPayment, ProviderTransaction } from '../../shared/provider/provider.ts'
import { ledgerView } from '../support/ledger-view.ts'
import { aRequest, aStoredClient, create, OVO_REQUEST } from '../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../support/test-deps.ts'

const UNKNOWN: CreateAnswer = { kind: 'unknown', reason: 'timeout' }
const REFUSED: CreateAnswer = { kind: 'refused', code: 'INVALID_VALUE_ERROR' }

describe('the request a take-over uses (design section 4, Create)', () => {
  it('stays the stored one when some attempt may exist upstream, however many were refused behind it', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    for (const answer of [UNKNOWN, REFUSED, REFUSED]) {
      deps.provider.script('createRequest', async () => answer)
      await create(deps, client, aRequest(), 'key-1').catch(() => undefined)
    }
    deps.provider.script('createRequest', testDeps().provider.createRequest)

    const { payment } = await create(deps, client, aRequest({ notionalMinor: minor(7) }), 'key-1')

    expect(payment).toMatchObject({ attempt: 4, notionalMinor: 100_000 })
  })
})

/** An OVO attempt whose answer never came, after its push has run out; the provider has a transaction for it. */
const lostPush = async (status: ProviderPayment['status']) => {
  const deps = testDeps()
  const client = await aStoredClient(deps)
  const push = { paymentRequestId: 'pr-push', providerPaymentId: `py-${crypto.randomUUID()}`, reference: '' }
  deps.provider.script('createRequest', async (input) => {
    push.reference = input.reference
    return UNKNOWN
  })
  await create(deps, client, aRequest(OVO_REQUEST), 'key-1').catch(() => undefined)
  deps.provider.script('createRequest', testDeps().provider.createRequest)
  deps.clock.advance(61)
  const { paymentRequestId, providerPaymentId, reference } = push
  const capturedMinor = minor(status === 'captured' ? 100_000 : 0)
  deps.provider.payments.set(providerPaymentId, { ...push, currency: 'IDR', status, capturedMinor })
  const transaction: ProviderTransaction = {
    transactionId: 'txn-1',
    providerPaymentId,
    paymentRequestId,
    reference,
    status: status === 'captured' ? 'success' : 'pending',
    currency: 'IDR',
    amountMinor: minor(100_000),
    keptMinor: undefined,
    settledAt: undefined,
    updatedAt: deps.now(),
  }
  deps.provider.script('listTransactions', async () => ({
    kind: 'found',
    value: { transactions: [transaction], hasMore: false },
  }))
  deps.provider.script('getRequest', async () => ({
    kind: 'found',
    value: { paymentRequestId, reference, status: 'open', latestPaymentId: providerPaymentId, destination: '' },
  }))
  return { deps, client, again: () => create(deps, client, aRequest(OVO_REQUEST), 'key-1') }
}

describe('taking over a push the provider knows', () => {
  it('answers the payment that it paid for, and sends no second push', async () => {
    const { deps, client, again } = await lostPush('captured')

    const { payment, replayed } = await again()

    expect(payment).toMatchObject({ status: 'succeeded', attempt: 1 })
    expect(replayed).toBe(true)
    expect(deps.provider.countOf('createRequest')).toBe(1)
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 97_900, succeeded: 1 })
  })

  it('is refused while the provider has not decided it', async () => {
    const { deps, again } = await lostPush('open')

    await expect(again()).rejects.toThrow('not decided yet')

    expect(deps.provider.countOf('createRequest')).toBe(1)
  })
})

describe('an attempt that fails behind one that was quicker', () => {
  it('answers the payment that is there all the same', async () => {
    const deps: TestDeps = testDeps()
    const client = await aStoredClient(deps)
    const answer = Promise.withResolvers<CreateAnswer>()
    deps.provider.script('createRequest', () => answer.promise)
    const slow = create(deps, client, aRequest(), 'key-1')
    await expect.poll(() => deps.provider.countOf('createRequest')).toBe(1)
    deps.clock.advance(31)
    deps.provider.script('createRequest', testDeps().provider.createRequest)
    const { payment } = await create(deps, client, aRequest(), 'key-1')

    answer.resolve(UNKNOWN)

    expect(await slow).toEqual({ payment, replayed: true })
  })
})
