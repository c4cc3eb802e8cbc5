import { describe, expect, it } from 'vitest'
import { claimTakeover } from '../../../shared/payment/attempt-store.ts'
import { commitAttempt } from '../../../shared/payment/create/commit-attempt.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { addMs } from '../../../shared/time.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import {
  aCreating,
  aRequest,
  aStoredClient,
  checkWhenDue,
  create,
  FIRST_ATTEMPT,
  lateAnswer,
  OVO_REQUEST,
  paidUnheard,
  paidWhileCreating,
} from '../../support/payment-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

describe('createPayment after a crash', () => {
  /** An attempt that died after the provider's answer: its claim is all that is left. */
  const crashed = async (deps: ReturnType<typeof testDeps>, key: string, fields = {}) => {
    const client = await aStoredClient(deps)
    deps.provider.script('createRequest', async () => {
      throw new Error('the process died')
    })
    await create(deps, client, aRequest(fields), key).catch(() => undefined)
    deps.provider.heal('createRequest')
    return client
  }

  it('makes the retry wait while the lease may still be live, and take over once it is over', async () => {
    const deps = testDeps()
    const client = await crashed(deps, 'key-1')

    const early = create(deps, client, aRequest(), 'key-1')
    await expect(early).rejects.toThrow('still being created')
    deps.clock.advance(30)
    const late = await create(deps, client, aRequest(), 'key-1')

    expect(late.payment).toMatchObject({ status: 'pending', attempt: 2 })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })

  it('does not let an attempt commit over the one that took over, and cancels its request', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    const answer = lateAnswer(deps)
    const frozen = create(deps, client, aRequest(), 'key-1')
    await expect.poll(() => deps.provider.countOf('createRequest')).toBe(1)
    deps.clock.advance(31)
    deps.provider.heal('createRequest')

    const taken = await create(deps, client, aRequest(), 'key-1')
    answer.resolve()
    const late = await frozen

    expect(late).toEqual({ payment: taken.payment, replayed: true })
    const [orphan, kept] = [...deps.provider.requests.values()]
    expect(orphan?.status).toBe('cancelled')
    expect(kept).toMatchObject({ status: 'open', paymentRequestId: taken.payment.paymentRequestId })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })

  it('sends no second OVO push while the first may still be answered, and asks the provider before it does', async () => {
    const deps = testDeps()
    const client = await crashed(deps, 'key-1', OVO_REQUEST)
    const again = () => create(deps, client, aRequest(OVO_REQUEST), 'key-1')

    // It is unknown when the call of a dead process ended: its lease is the bound.
    deps.clock.advance(89)
    await expect(again()).rejects.toThrow('the push sent to the customer may still be answered')
    deps.clock.advance(1)
    deps.provider.script('listTransactions', async () => ({ kind: 'unanswered', reason: 'unreachable' }))
    await expect(again()).rejects.toThrow('could not say whether a push was paid')
    deps.provider.heal('listTransactions')
    const { payment } = await again()

    expect(payment).toMatchObject({ status: 'pending', attempt: 2, paymentDestination: '' })
    expect(deps.provider.countOf('createRequest')).toBe(2)
  })

  it('gives up in time instead of beginning a provider call it cannot finish', async () => {
    const deps = testDeps()
    const client = await crashed(deps, 'key-1', OVO_REQUEST)
    deps.clock.advance(90)
    deps.provider.script('listTransactions', async () => {
      deps.clock.advance(12)
      return { kind: 'found', value: { transactions: [], hasMore: false } }
    })

    await expect(create(deps, client, aRequest(OVO_REQUEST), 'key-1')).rejects.toThrow('took too long')

    expect(deps.provider.countOf('createRequest')).toBe(1)
  })
})

describe('a capture while the payment is still being created (OVO answers at once)', () => {
  const paidOvo = async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    return { deps, client, ...(await paidWhileCreating(deps, client, OVO_REQUEST)) }
  }

  it('is remembered under a live lease, and credited by due work once the payment is there', async () => {
    const { deps, client, creating, answer, providerPaymentId } = await paidOvo()

    const outcome = await applyProviderNews(deps, { providerPaymentId }, 'callback')
    answer.resolve()
    const { payment } = await creating
    const checked = await checkWhenDue(deps, payment)

    expect(outcome).toStrictEqual({ kind: 'deferred' })
    expect(payment).toMatchObject({ status: 'pending', dueAt: deps.now() })
    expect(checked).toBe('checked')
    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status: 'succeeded' })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 97_900, succeeded: 1 })
    expect(await findSuspense(deps, providerPaymentId)).toBeUndefined()
  })

  it('makes the payment succeed from the stored request once the lease is over, and the late attempt replays it', async () => {
    const { deps, client, creating, answer, providerPaymentId } = await paidOvo()
    deps.clock.advance(31)

    const outcome = await applyProviderNews(deps, { providerPaymentId }, 'callback')
    answer.resolve()
    const late = await creating

    expect(outcome.kind).toBe('applied')
    expect(late.payment).toMatchObject({ status: 'succeeded', creditedProviderPaymentId: providerPaymentId })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 97_900, succeeded: 1 })
    expect(await findSuspense(deps, providerPaymentId)).toBeUndefined()
  })

  it('holds back a second push until due work has looked at it, though no row of it is there', async () => {
    const { deps, client, creating, providerPaymentId } = await paidOvo()
    void creating.catch(() => undefined)
    await applyProviderNews(deps, { providerPaymentId }, 'callback')
    deps.provider.script('listTransactions', async () => ({
      kind: 'found',
      value: { transactions: [], hasMore: false },
    }))
    deps.clock.advance(90)

    await expect(create(deps, client, aRequest(OVO_REQUEST), 'key-1')).rejects.toThrow('was announced')

    expect(deps.provider.countOf('createRequest')).toBe(1)
  })

  it('is credited by due work when the attempt died and no callback ever comes again', async () => {
    const { deps, client, creating, providerPaymentId } = await paidOvo()
    void creating.catch(() => undefined)
    await applyProviderNews(deps, { providerPaymentId }, 'callback')
    deps.clock.advance(31)
    const [attempted] = deps.provider.calls
    const paymentId = (attempted?.id ?? '').slice(0, 36) as Payment['paymentId']

    const checked = await checkWhenDue(deps, { paymentId })

    expect(checked).toBe('checked')
    expect(await findStoredPayment(deps, paymentId)).toMatchObject({ status: 'succeeded', paymentDestination: '' })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 97_900, succeeded: 1 })
  })

  it('is credited when it was paid on an unheard first attempt, and the request shown is cancelled', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    const { payment, providerPaymentId } = await paidUnheard(deps, client)

    await applyProviderNews(deps, { providerPaymentId }, 'callback')

    expect(await findStoredPayment(deps, payment.paymentId)).toMatchObject({ status: 'succeeded' })
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 95_900, succeeded: 1 })
    expect(deps.provider.requests.get(payment.paymentRequestId)?.status).toBe('cancelled')
  })
})

const COMMIT = 'transact'

const aFirstAttempt = async () => {
  const { deps, client, creating } = await aCreating(FIRST_ATTEMPT)
  const upstream = { paymentRequestId: 'pr-1', destination: '123', expiresAt: addMs(deps.now(), 86_400_000) }
  return { deps, client, creating, upstream }
}

const DEADLINE = { remainingMs: () => 10_000 }

describe('commitAttempt (design section 4, Create, step 5)', () => {
  it('tries a commit again that never arrived', async () => {
    const { deps, client, creating, upstream } = await aFirstAttempt()
    let failed = 0
    const failing = interceptTable(deps, {
      before: ({ name }) => {
        if (name === COMMIT && failed++ < 2) throw new Error('the table cannot be reached')
      },
    })

    const committed = await commitAttempt(failing, creating, upstream, DEADLINE)

    expect(committed.kind).toBe('committed')
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })

  it('gives up at once when another attempt took over', async () => {
    const { deps, creating, upstream } = await aFirstAttempt()
    const taken = { ...creating, attempt: 2, leaseUntil: addMs(deps.now(), 30_000) }
    await claimTakeover(deps, { read: creating, taken }, deps.now())
    let commits = 0
    const counting = interceptTable(deps, { before: ({ name }) => void (name === COMMIT && commits++) })

    const committed = await commitAttempt(counting, creating, upstream, DEADLINE)

    expect(committed).toEqual({ kind: 'overtaken_by', stored: taken })
    expect(commits).toBe(1)
    expect(await findStoredPayment(deps, creating.paymentId)).toEqual(taken)
  })

  it('throws when the table stays away and no time is left', async () => {
    const { deps, creating, upstream } = await aFirstAttempt()
    const failing = interceptTable(deps, {
      before: ({ name }) => {
        if (name === COMMIT) throw new Error('the table cannot be reached')
      },
    })

    const late = commitAttempt(failing, creating, upstream, { remainingMs: () => 100 })

    await expect(late).rejects.toThrow('cannot be reached')
  })
})
