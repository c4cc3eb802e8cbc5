import { describe, expect } from 'vitest'
import { auditClient, auditLedger } from '../../../shared/audit/audit-client.ts'
import type { Client } from '../../../shared/client/client.ts'
import { settlementKey, shardKey, windowKey } from '../../../shared/table/keys.ts'
import { addDifferences, recordDifferences } from '../../../shared/verdict/verdict-store.ts'
import { changing } from '../../support/batch-builders.ts'
import { auditRecordsOf, invokeAdmin, OPERATOR } from '../../support/operator-actions.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { alter, alterSettlement, putRaw, rawItem } from '../../support/tampering.ts'
import {
  beforeCommit,
  beforeFirst,
  interceptTable,
  type TestDeps,
} from '../../support/test-deps.ts'
import { differenceOf, auditedTest as it } from './recorded-settlement.ts'

async function alterWriteOffs(
  deps: TestDeps,
  { clientId }: Client,
  written_off_minor: number,
  audit: typeof auditLedger | typeof auditClient = auditLedger,
) {
  await alter(deps, windowKey(clientId), { written_off_minor })
  await audit(deps, clientId)
}

/** Finance accepts the difference of write-offs of 5. */
function accept(deps: TestDeps, client: Client, fields: object = {}) {
  return invokeAdmin('accept-difference', deps, {
    operator: OPERATOR,
    client_id: client.clientId,
    notes: 'known',
    ...differenceOf(client),
    ...fields,
  })
}

const REFUSED = { status: 422, body: { field_errors: expect.any(Object) } }

describe('the payout gate and differences', () => {
  it.for([
    [1, 200],
    [3, 409],
  ] as const)(
    'passes again when an audit has ended just before the write, at most three times: %i, %i',
    async ([audits, answered], { deps, client: { clientId }, pay }) => {
      let writes = 0
      const overtaken = interceptTable(deps, {
        before: async ({ name }) => {
          if (name !== 'transact' || ++writes > audits) return
          deps.clock.advance(1)
          await recordDifferences(deps, clientId, new Map(), { figuresAt: deps.now() })
        },
      })

      expect((await pay({}, overtaken)).status).toBe(answered)
      expect(writes).toBe(answered === 200 ? 2 : 3)
    },
  )

  it('refuses what neither the list nor the window of its client names', async ({
    deps,
    client,
    settlement,
    pay,
  }) => {
    await alterSettlement(deps, settlement, { owner: undefined })
    await alter(deps, windowKey(client.clientId), { last_settlement_id: undefined })

    const differences = expect.arrayContaining([`settlement of ${settlement.settlementId}`])
    expect(await pay()).toMatchObject({ body: { field_errors: { differences } } })
  })

  it('does not wait for counts', async ({ deps, client, pay }) => {
    const key = shardKey(client.clientId, 3)
    await alter(deps, key, { count_failed: 7 })

    const { differences } = await auditLedger(deps, client.clientId)

    expect(differences).toMatchObject([{ what: 'ledger.count_failed' }])
    expect(await pay()).toMatchObject({ status: 200 })
  })

  it('refuses while the client has a difference, unless finance accepted it', async ({
    deps,
    client,
    pay,
  }) => {
    const { clientId } = client
    await alterWriteOffs(deps, client, 5, auditClient)

    const refusal = await pay()
    const wrongFields = [
      { found: 6 },
      { id: 'x' },
      { expected: null },
      { client_id: crypto.randomUUID() },
    ]
    const wrong = await Promise.all(wrongFields.map((fields) => accept(deps, client, fields)))
    const accepted = [await accept(deps, client), await accept(deps, client)]

    const body = {
      message: 'the books of this client do not balance (differences: 1)',
      field_errors: { differences: [`window.written_off_minor of ${clientId}`] },
      action_hint: expect.stringContaining('accept-difference'),
    }
    expect(refusal).toMatchObject({ status: 422, body })
    expect(wrong.map((reply) => reply.status)).toStrictEqual([422, 422, 422, 404])
    const reply = { status: 200, body: differenceOf(client) }
    expect(accepted).toStrictEqual([reply, reply])
    expect(await auditRecordsOf(deps, `accepted:${clientId}`)).toHaveLength(1)
    expect(await pay()).toMatchObject({ status: 200 })
  })

  it('ends an acceptance when figures change, and removes a repaired difference', async ({
    deps,
    client,
    pay,
  }) => {
    await alterWriteOffs(deps, client, 5)
    await accept(deps, client)

    const statuses: number[] = []
    for (const amount of [5, 6, 5, 0]) {
      await alterWriteOffs(deps, client, amount)
      statuses.push((await pay({ dry_run: amount > 0 })).status)
    }

    expect(statuses).toStrictEqual([200, 422, 422, 200])
    await expectBalanced(deps, client)
  })

  it('audits once more, and refuses if the window was altered', async ({ deps, client, pay }) => {
    const row = await rawItem(deps, windowKey(client.clientId))
    await putRaw(deps, { ...row, settled_until: '2026-11-22T00:00:00.000Z' })

    expect(await pay()).toMatchObject(REFUSED)
    await putRaw(deps, row)
    expect(await pay()).toMatchObject({ status: 200 })
    await expectBalanced(deps, client)
  })

  it('refuses while payouts are on hold, also from just before the write', async ({
    deps,
    client,
    pay,
  }) => {
    const hold = (payout_hold: string | null) => changing({ payout_hold })(deps, client)
    const held = (reason: string) => {
      return { status: 422, body: { message: expect.stringContaining(reason) } }
    }

    await hold('a court order')
    expect(await pay()).toMatchObject(held('a court order'))
    await hold(null)
    const raced = beforeCommit(deps, () => hold('a debt'))
    expect(await pay({}, raced)).toMatchObject(held('a debt'))
    await hold(null)
    expect(await pay()).toMatchObject({ status: 200 })
  })

  it('refuses for a difference that an audit finds after the gate has read the others', async ({
    deps,
    client,
    pay,
  }) => {
    const found = new Map([['window', [differenceOf(client)]]])
    const audited = beforeFirst(deps, 'query', () => addDifferences(deps, client.clientId, found))

    expect(await pay({}, audited)).toMatchObject(REFUSED)
  })

  it('refuses while every audit finds another difference', async ({ deps, settlement, pay }) => {
    const row = await rawItem(deps, settlementKey(settlement.settlementId))
    let looks = 0
    const alterAgain = async () => void (await putRaw(deps, { ...row, entry_count: 2 + looks++ }))
    await alterAgain()

    expect(await pay({}, { ...deps, sleep: alterAgain })).toMatchObject(REFUSED)
    await putRaw(deps, row)
    expect(await pay()).toMatchObject({ status: 200 })
  })
})
