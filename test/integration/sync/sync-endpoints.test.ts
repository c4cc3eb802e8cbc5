/** The payments of one page of the sync share the reads of their clients' endpoints (design section 4, Announce). */
import { describe, expect } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-run.ts'
import { endpointsPk } from '../../../shared/table/keys.ts'
import { interceptTable, queriesIn, recordTable, type TableCall } from '../../support/intercept-table.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import { paidUpstream, paymentOf, rowNow } from '../../support/synced-payment.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'
import { syncTest as it } from './sync-test.ts'

/** Payments of a client whose callbacks were lost; the provider's list shows them. */
const heardOf = async (deps: TestDeps, client: Client, count: number) => {
  const paid = await Promise.all(Array.from({ length: count }, () => paidUpstream(deps, client)))
  deps.provider.transactions.push(...paid.map((one) => rowNow(deps, one)))
  return paid
}

const readsOf = (calls: readonly TableCall[], { clientId }: Client) =>
  queriesIn(calls).filter(({ partition: [pk] }) => pk === endpointsPk(clientId)).length

describe('sync: the endpoints of the events of a page', () => {
  it('are read once for each client, and each payment reaches them', async ({ deps, client }) => {
    const other = await aStoredClient(deps)
    await storedEndpoint(deps, { clientId: client.clientId })
    const paid = [...(await heardOf(deps, client, 12)), ...(await heardOf(deps, other, 3))]
    const recorded = recordTable(deps)

    await syncProviderTransactions(recorded.deps)

    expect([readsOf(recorded.calls, client), readsOf(recorded.calls, other)]).toStrictEqual([1, 1])
    expect(deps.sent.filter(({ queue }) => queue === 'webhooks')).toHaveLength(12)
    const statuses = await Promise.all(paid.map(async (one) => (await paymentOf(deps, one)).status))
    expect(new Set(statuses)).toStrictEqual(new Set(['succeeded']))
  })

  it('are read again by the next page', async ({ deps, client }) => {
    await heardOf(deps, client, 1)
    const recorded = recordTable(deps)
    await syncProviderTransactions(recorded.deps)
    await storedEndpoint(deps, { clientId: client.clientId })
    await heardOf(deps, client, 1)

    await syncProviderTransactions(recorded.deps)

    expect(readsOf(recorded.calls, client)).toBe(2)
    expect(deps.sent.filter(({ queue }) => queue === 'webhooks')).toHaveLength(1)
  })

  it('are read again within a page before they are too old for a commit', async ({ deps, client }) => {
    // Eight rows of a page are reconciled at the same time, the ninth after them.
    const paid = await heardOf(deps, client, 9)
    const recorded = recordTable(deps)
    let commits = 0
    const slow = interceptTable(recorded.deps, {
      after: ({ name }) => name === 'transact' && ++commits === 8 && deps.clock.advance(3),
    })

    await syncProviderTransactions(slow)

    expect(readsOf(recorded.calls, client)).toBe(2)
    expect(await Promise.all(paid.map(async (one) => (await paymentOf(deps, one)).status))).not.toContain('pending')
  })

  it('of a read that failed are read again', async ({ deps, client }) => {
    await heardOf(deps, client, 9)
    let failures = 0
    const flaky = interceptTable(deps, {
      before: (call) => {
        if (readsOf([call], client) > 0 && failures++ === 0) throw new Error('the table does not answer')
      },
    })

    const first = await syncProviderTransactions(flaky)

    expect(first).toMatchObject({ transactions: 9, unanswered: 8 })
  })
})
