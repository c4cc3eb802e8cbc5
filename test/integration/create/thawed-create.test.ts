/**
 * Goal: the platform ends a create at its time limit, and the create continues when its environment is thawed much later.
 * It commits no payment that expires before it is created, and it leaves no request that can be paid.
 * Method: the wall clock jumps while the create waits, once at each of its awaits; the monotonic clock does not advance.
 */
import { TransactionConflictException } from '@aws-sdk/client-dynamodb'
import { describe, expect, it } from 'vitest'
import { addMs, HOUR_MS } from '../../../shared/time.ts'
import { failingOn, interceptTable, type TableCall } from '../../support/intercept-table.ts'
import { OVO_REQUEST } from '../../support/payment-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { aCreate } from './a-create.ts'

const COMMIT = 'transact'

/** The environment is frozen: only the wall clock advances. */
const freeze = ({ clock }: TestDeps, ms: number) => clock.set(addMs(clock.now(), ms))

/** The provider's answer is there, and the environment is thawed only later. */
const frozenAfterCall = (deps: TestDeps, ms: number) => {
  deps.provider.script('createRequest', async (input, timeoutMs) => {
    const answer = await deps.provider.healthy.createRequest(input, timeoutMs)
    freeze(deps, ms)
    return answer
  })
}

/** The environment is frozen at its first request of a kind, which may fail. */
const frozenAt = (deps: TestDeps, kind: string, when: 'before' | 'after', ms: number, error?: Error) => {
  let happened = false
  const happens = ({ name }: TableCall) => {
    if (name !== kind || happened) return
    happened = true
    freeze(deps, ms)
    if (error) throw error
  }
  return interceptTable(deps, { [when]: happens })
}

const conflict = () => new TransactionConflictException({ message: 'conflict', $metadata: {} })

describe('a create answered early and thawed later', () => {
  it('does not commit a payment that expires before it was created: cancelled upstream, released, 500, safe to retry', async () => {
    const { deps, make, stored, ledger, upstream } = await aCreate({ expiresInSeconds: 3_600 })
    frozenAfterCall(deps, HOUR_MS)

    await expect(make()).rejects.toMatchObject({
      code: 'internal_error',
      message: expect.stringContaining('expired'),
    })
    expect(upstream()).toStrictEqual(['cancelled'])
    const [paymentRequestId] = deps.provider.requests.keys()
    const ended = { number: 1, outcome: 'unknown', code: 'expired_before_commit', endedAt: deps.now() }
    expect(await stored()).toMatchObject({ status: 'creating', providerAttempts: [{ ...ended, paymentRequestId }] })
    expect(await stored()).not.toHaveProperty('leaseUntil')
    expect(await ledger()).toStrictEqual({ pendingMinor: 0 })

    deps.provider.heal('createRequest')
    const { payment, replayed } = await make()

    expect(payment).toMatchObject({ status: 'pending', attempt: 2, expiresAt: addMs(payment.createdAt, HOUR_MS) })
    expect(replayed).toBe(false)
    expect(await ledger()).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })

  it('holds back the next push as if its own might still be answered', async () => {
    const { deps, make, asked } = await aCreate(OVO_REQUEST)
    frozenAfterCall(deps, 55_000)

    await expect(make()).rejects.toThrow('expired before it could be shown')
    await expect(make()).rejects.toThrow('may still be answered')

    expect(asked()).toBe(1)
  })

  it('knows its own commit from before it was frozen, and leaves its request payable', async () => {
    const { deps, make, ledger, upstream } = await aCreate({ expiresInSeconds: 10 })

    const { payment, replayed } = await make(frozenAt(deps, COMMIT, 'after', 15_000, new Error('the answer was lost')))

    expect([payment.status, payment.attempt, replayed]).toStrictEqual(['pending', 1, false])
    expect(upstream()).toStrictEqual(['open'])
    expect(await ledger()).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })

  it('does not repeat a commit that says it was created long ago', async () => {
    const short = await aCreate({ expiresInSeconds: 60 })
    const { deps, make, ledger } = await aCreate()

    const expired = short.make(frozenAt(short.deps, COMMIT, 'before', HOUR_MS, conflict()))
    await expect(expired).rejects.toThrow('expired before it could be shown')
    const { payment } = await make(frozenAt(deps, COMMIT, 'before', HOUR_MS, conflict()))

    expect(payment.createdAt).toBe(deps.now())
    expect(await ledger()).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })
})

describe('a commit that fails for good', () => {
  it('releases its lease: the next request takes over at once, and cancels what no customer will be shown', async () => {
    const { deps, make, upstream } = await aCreate()

    await expect(make(failingOn(deps, COMMIT, 'before'))).rejects.toThrow('cannot be reached')
    const { payment } = await make()

    expect(payment).toMatchObject({ status: 'pending', attempt: 2 })
    expect(payment.providerAttempts).toMatchObject([{ outcome: 'unknown', code: 'commit_failed' }, {}])
    expect(upstream()).toStrictEqual(['cancelled', 'open'])
  })
})
