/**
 * Goal: a client with several parts looks to all callers like a client with one. Method: real stores on tables
 * in memory; expectations are sorted and summed here, from the payments themselves.
 */
import { describe, expect, it } from 'vitest'
import { handler as getStatement } from '../../../functions/admin/get-settlement-statement.ts'
import { getBalance } from '../../../shared/ledger/ledger-store.ts'
import { listPayments } from '../../../shared/payment/list-payments.ts'
import { queriesIn, recordTable } from '../../support/intercept-table.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { entriesIn } from '../../support/recount/entries-in.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { inSteps, settle, settlementsOf } from '../../support/settlement-builders.ts'
import { idsBy, manyPaid } from './grown-client.ts'

describe('a client whose payments lie in four parts', () => {
  it('lists them as one, newest first, by any status and page, with the true total: one query of each part', async () => {
    const { deps, client, payments } = await manyPaid(90)
    const expected = idsBy(payments, 'createdAt').toReversed()

    const { clientId } = client

    for (const status of [undefined, 'succeeded'] as const) {
      for (const page of [1, 2, 9, 10, 1_000_000]) {
        const watched = recordTable(deps)
        const list = await listPayments(watched.deps, { clientId, status, page: { page, perPage: 10 } })

        expect(list.total).toBe(90)
        expect(list.payments.map(({ paymentId }) => paymentId)).toStrictEqual(
          expected.slice((page - 1) * 10, page * 10),
        )
        const asked = queriesIn(watched.calls).filter(({ index }) => index !== undefined)
        if (page === 1) expect(asked).toHaveLength(4)
        // A page past the end asks for the counts, and for no index.
        if (page > 9) expect(asked).toStrictEqual([])
      }
    }
    const none = await listPayments(deps, { clientId, status: 'failed', page: { page: 1, perPage: 10 } })
    expect(none).toStrictEqual({ payments: [], total: 0 })
  })

  it('has one balance, is settled as one, and its statement says each payment once, in the order of the journal', async () => {
    const { deps, client, payments } = await manyPaid(620)
    const net = payments.reduce((sum, { netMinor }) => sum + netMinor, 0)
    expect(await getBalance(deps, client.clientId)).toMatchObject({ pendingMinor: net })
    deps.clock.advance(2 * 86_400)

    // In steps, so that the sums are stored many times before the end.
    const small = inSteps(deps, 150, 1, 100)
    for (let run = 0; (await settle(small, client)).settlement === undefined; run++) expect(run).toBeLessThan(20)

    const [settlement] = await settlementsOf(deps, client)
    expect(settlement).toMatchObject({ netMinor: net, paymentCount: 620 })
    const shown: string[][] = []
    for (let cursor: string | undefined, more = true; more; more = cursor !== undefined) {
      const asked = { settlement_id: settlement?.settlementId, ...(cursor && { cursor }) }
      const { body } = await invokeAdmin(getStatement, deps, asked)
      const page = body as { readonly entries: readonly { payment_id: string }[]; readonly cursor: string | null }
      shown.push(page.entries.map(({ payment_id }) => payment_id))
      cursor = page.cursor ?? undefined
    }
    expect(shown.map(({ length }) => length)).toStrictEqual([500, 120])
    expect(shown.flat()).toStrictEqual((await entriesIn(deps, client)).map(({ paymentId }) => paymentId))
    expect(new Set(shown.flat())).toStrictEqual(new Set(payments.map(({ paymentId }) => paymentId)))
    expect(await getBalance(deps, client.clientId)).toMatchObject({ pendingMinor: 0 })
    await expectBalanced(small, client.clientId)
  })
})
