import { describe, expect, it } from 'vitest'
import { commitAttempt } from '../../../shared/payment/create/commit-attempt.ts'
import { claimTakeover } from '../../../shared/payment/creating-store.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { addMs } from '../../../shared/time.ts'
import { interceptTable } from '../../support/intercept-table.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { aCreating, aRequest, aStoredClient, create, FIRST_ATTEMPT } from '../../support/payment-builders.ts'
import { testDeps } from '../../support/test-deps.ts'

const COMMIT = 'transact'

const aFirstAttempt = async () => {
  const { deps, client, creating } = await aCreating(FIRST_ATTEMPT)
  const upstream = { paymentRequestId: 'pr-1', destination: '123', expiresAt: addMs(deps.now(), 86_400_000) }
  return { deps, client, creating, upstream }
}

const DEADLINE = { remainingMs: () => 10_000 }

describe('commitAttempt (design section 4, Create, step 5)', () => {
  it('knows its own commit whose answer was lost, counts it once and leaves its request payable', async () => {
    const deps = testDeps()
    const client = await aStoredClient(deps)
    let commits = 0
    const losing = interceptTable(deps, {
      before: ({ name }) => void (name === COMMIT && commits++),
      after: ({ name }) => {
        if (name === COMMIT) throw new Error('the answer was lost')
      },
    })

    const { payment, replayed } = await create(losing, client, aRequest(), 'key-1')

    expect([payment.status, replayed, commits]).toStrictEqual(['pending', false, 2])
    expect(await ledgerView(deps, client.clientId)).toStrictEqual({ pendingMinor: 0, pending: 1 })
    expect(deps.provider.requests.get(payment.paymentRequestId)?.status).toBe('open')
  })

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
