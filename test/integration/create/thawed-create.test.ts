/**
 * Goal: a create whose function was answered early by the platform's time limit, and which goes on when its environment
 * is thawed much later, does no harm: nothing is committed that expires before it was created, and nothing payable is
 * left behind.
 * Method: the wall clock jumps while the create waits, once at each of its awaits; the monotonic one stands still.
 */
import { TransactionConflictException } from '@aws-sdk/client-dynamodb'
import { describe, expect, it } from 'vitest'
import { paymentIdForKey } from '../../../shared/ids.ts'
import { claimTakeover } from '../../../shared/payment/attempt-store.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { addMs, HOUR_MS } from '../../../shared/time.ts'
import { interceptTable, type TableCall } from '../../support/intercept-table.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aRequest, aStoredClient, create, OVO_REQUEST } from '../../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'
import { lostPush, again as retried } from './lost-push.ts'

const COMMIT = 'transact'
const CLAIM = 'put'

/** The environment stands still: only the wall clock goes on. */
const freeze = ({ clock }: TestDeps, ms: number) => clock.set(addMs(clock.now(), ms))

const aMerchant = async () => {
  const deps = testDeps()
  const client = await aStoredClient(deps)
  const paymentId = paymentIdForKey(client.clientId, 'key-1')
  const stored = () => findStoredPayment(deps, paymentId)
  return { deps, client, stored }
}

/** The provider's answer is there, and the environment is thawed only later. */
const frozenBehindCall = (deps: TestDeps, ms: number) => {
  deps.provider.script('createRequest', async (input, timeoutMs) => {
    const answer = await deps.provider.healthy.createRequest(input, timeoutMs)
    freeze(deps, ms)
    return answer
  })
}

const once = (name: string, happens: () => void) => {
  let happened = false
  return (call: TableCall) => {
    if (call.name !== name || happened) return
    happened = true
    happens()
  }
}

const throwOnce = (name: string, error: () => Error, meanwhile: () => void) =>
  once(name, () => {
    meanwhile()
    throw error()
  })

const conflict = () => new TransactionConflictException({ message: 'conflict', $metadata: {} })

describe('a create answered early and thawed later', () => {
  it('does not commit a payment that expires before it was created: cancelled upstream, released, 500, safe to retry', async () => {
    const { deps, client, stored } = await aMerchant()
    frozenBehindCall(deps, HOUR_MS)
    const request = aRequest({ expiresInSeconds: 3_600 })

    const thawed = create(deps, client, request, 'key-1')

    await expect(thawed).rejects.toMatchObject({ code: 'internal_error', message: expect.stringContaining('expired') })
    const [orphan] = deps.provider.requests.values()
    expect(orphan?.status).toBe('cancelled')
    const ended = { number: 1, outcome: 'unknown', code: 'expired_before_commit', endedAt: deps.now() }
    expect(await stored()).toMatchObject({
      status: 'creating',
      providerAttempts: [{ ...ended, paymentRequestId: orphan?.paymentRequestId }],
    })
    expect(await stored()).not.toHaveProperty('leaseUntil')
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0 })

    deps.provider.heal('createRequest')
    const { payment, replayed } = await create(deps, client, request, 'key-1')

    expect(payment).toMatchObject({ status: 'pending', attempt: 2, expiresAt: addMs(payment.createdAt, HOUR_MS) })
    expect(replayed).toBe(false)
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })

  it('holds back the next push as if its own might still be answered', async () => {
    const { deps, client } = await aMerchant()
    frozenBehindCall(deps, 55_000)
    const again = () => create(deps, client, aRequest(OVO_REQUEST), 'key-1')

    await expect(again()).rejects.toThrow('expired before it could be shown')

    await expect(again()).rejects.toThrow('may still be answered')
    expect(deps.provider.countOf('createRequest')).toBe(1)
  })

  it('commits what still has time left', async () => {
    const { deps, client } = await aMerchant()
    frozenBehindCall(deps, HOUR_MS - 1)

    const { payment } = await create(deps, client, aRequest({ expiresInSeconds: 3_600 }), 'key-1')

    expect(payment).toMatchObject({ status: 'pending', createdAt: deps.now(), expiresAt: addMs(deps.now(), 1) })
  })

  it('knows its own commit from before it was frozen, and leaves its request payable', async () => {
    const { deps, client } = await aMerchant()
    const lost = () => new Error('the answer was lost')
    const losing = interceptTable(deps, { after: throwOnce(COMMIT, lost, () => freeze(deps, 15_000)) })

    const { payment, replayed } = await create(losing, client, aRequest({ expiresInSeconds: 10 }), 'key-1')

    expect([payment.status, payment.attempt, replayed]).toStrictEqual(['pending', 1, false])
    expect(deps.provider.countOf('cancelRequest')).toBe(0)
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })

  it('does not repeat a commit that says it was created long ago', async () => {
    const { deps, client } = await aMerchant()
    const frozen = interceptTable(deps, { before: throwOnce(COMMIT, conflict, () => freeze(deps, HOUR_MS)) })

    const short = create(frozen, client, aRequest({ expiresInSeconds: 60 }), 'key-1')
    await expect(short).rejects.toThrow('expired before it could be shown')
    const again = interceptTable(deps, { before: throwOnce(COMMIT, conflict, () => freeze(deps, HOUR_MS)) })
    const { payment } = await create(again, client, aRequest(), 'key-2')

    expect(payment.createdAt).toBe(deps.now())
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })

  it('sends no push any more when it was frozen before it had: another attempt may have', async () => {
    const { deps, client, stored } = await aMerchant()
    const frozen = interceptTable(deps, { after: once(CLAIM, () => freeze(deps, 30_000)) })

    await expect(create(frozen, client, aRequest(OVO_REQUEST), 'key-1')).rejects.toThrow('took too long')

    expect(deps.provider.countOf('createRequest')).toBe(0)
    expect(await stored()).toMatchObject({ status: 'creating', providerAttempts: [{ outcome: 'not_executed' }] })
    expect(await stored()).not.toHaveProperty('leaseUntil')
  })

  it('sends no second push when it was frozen after it had asked about the first, which may have been paid since', async () => {
    const { deps, client } = await lostPush()
    deps.provider.script('listTransactions', async () => {
      freeze(deps, 30_000)
      return { kind: 'found', value: { transactions: [], hasMore: false } }
    })

    await expect(retried(deps, client)).rejects.toThrow('took too long')

    expect(deps.provider.countOf('createRequest')).toBe(1)
  })
})

describe('a commit that fails for good', () => {
  const COMMITS = 4

  it('releases its lease: the next request takes over at once, and cancels what no customer will be shown', async () => {
    const { deps, client } = await aMerchant()
    const failing = interceptTable(deps, {
      before: ({ name }) => {
        if (name === COMMIT) throw new Error('the table cannot be reached')
      },
    })

    await expect(create(failing, client, aRequest(), 'key-1')).rejects.toThrow('cannot be reached')
    const { payment } = await create(deps, client, aRequest(), 'key-1')

    expect(payment).toMatchObject({ status: 'pending', attempt: 2 })
    expect(payment.providerAttempts).toMatchObject([{ outcome: 'unknown', code: 'commit_failed' }, {}])
    expect([...deps.provider.requests.values()]).toMatchObject([{ status: 'cancelled' }, { status: 'open' }])
  })

  it('cancels its request when another attempt, which still runs, took over meanwhile: no customer will be shown it', async () => {
    const { deps, client, stored } = await aMerchant()
    const takeOver = async () => {
      freeze(deps, 30_000)
      const read = await stored()
      if (read?.status !== 'creating') return
      const taken = { ...read, attempt: 2, leaseUntil: addMs(deps.now(), 30_000) }
      await claimTakeover(deps, { read, taken }, deps.now())
    }
    const failing = interceptTable(deps, {
      before: async ({ name }) => {
        // What refuses its release tells it already how the payment stands.
        if (name === 'get') throw new Error('throttled at every try')
        if (name !== COMMIT) return
        await takeOver()
        throw new Error('the table cannot be reached')
      },
    })

    await expect(create(failing, client, aRequest(), 'key-1')).rejects.toThrow('another attempt is creating')

    expect(await stored()).toMatchObject({ status: 'creating', attempt: 2 })
    expect([...deps.provider.requests.values()]).toMatchObject([{ status: 'cancelled' }])
  })

  it('answers the payment when its last try was applied after all', async () => {
    const { deps, client } = await aMerchant()
    let tries = 0
    const failing = interceptTable(deps, {
      before: ({ name }) => {
        if (name === COMMIT && ++tries < COMMITS) throw new Error('the table cannot be reached')
      },
      after: ({ name }) => {
        if (name === COMMIT) throw new Error('the answer was lost')
      },
    })

    const { payment, replayed } = await create(failing, client, aRequest(), 'key-1')

    expect({ status: payment.status, replayed, tries }).toStrictEqual({
      status: 'pending',
      replayed: false,
      tries: COMMITS,
    })
    expect(deps.provider.countOf('cancelRequest')).toBe(0)
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, pending: 1 })
  })
})
