import { describe, expect, it } from 'vitest'
import { handler as listSettlements } from '../../../functions/admin/list-settlements.ts'
import type { ClientId } from '../../../shared/ids.ts'
import { minor } from '../../../shared/money.ts'
import { adjustLedger } from '../../../shared/posting/adjust-ledger.ts'
import { settleClient } from '../../../shared/settlement/settle-client.ts'
import { closeStep } from '../../../shared/settlement/settlement-store.ts'
import { DAY_MS } from '../../../shared/time.ts'
import { type MemoryDeps, memoryDeps } from '../../support/memory-deps.ts'
import { invokeAdmin, OPERATOR } from '../../support/operator-actions.ts'
import { aStoredClient } from '../../support/payment-builders.ts'

/** Settled now: its public period ends a moment ago. */
const aSettlement = async (deps: MemoryDeps, clientId: ClientId, reference: string) => {
  deps.clock.advance(1)
  const amount = { clientId, amountMinor: minor(50_000), kind: 'recovered', reference } as const
  await adjustLedger(deps, { ...amount, providerTransactionId: undefined, notes: undefined, operator: OPERATOR })
  const { settlement } = await settleClient(deps, clientId, { by: 'auto' })
  if (settlement === undefined) throw new Error('nothing was settled')
  return settlement
}

type Listed = { readonly data: readonly { readonly id: string; readonly status: string }[]; readonly cursor?: string }

const listed = async (deps: MemoryDeps, input: object) =>
  (await invokeAdmin(listSettlements, deps, input)).body as Listed

const idsOf = async (deps: MemoryDeps, input: object) => (await listed(deps, input)).data.map(({ id }) => id)

const aClient = async (deps: MemoryDeps) => {
  deps.clock.advance(1)
  return (await aStoredClient(deps, { settlementFloorMinor: minor(0) })).clientId
}

/** Two clients with a settlement on each of two days, the first of which has failed. */
const aMonth = async () => {
  const deps = memoryDeps()
  const [first, second] = [await aClient(deps), await aClient(deps)]
  const old = await aSettlement(deps, first, 'R-1')
  const failed = { ...old, status: 'failed', settledAt: deps.now() } as const
  await deps.table.write(closeStep(failed))
  deps.clock.advance(DAY_MS / 1_000)
  const [young, other] = [await aSettlement(deps, first, 'R-2'), await aSettlement(deps, second, 'R-3')]
  const day = (daysAgo: number) =>
    new Date(Date.parse(deps.now()) + 7 * 3_600_000 - daysAgo * DAY_MS).toISOString().slice(0, 10)
  return { deps, first, second, old, young, other, day }
}

describe('list-settlements by status and days', () => {
  it('shows those of all clients whose periods end on these days of Jakarta', async () => {
    const { deps, old, young, other, day } = await aMonth()

    expect(await idsOf(deps, { from: day(30), to: day(2) })).toStrictEqual([old.settlementId])
    expect(await idsOf(deps, { from: day(1), to: day(0) })).toStrictEqual([young.settlementId, other.settlementId])
    expect(await idsOf(deps, { from: day(30) })).toStrictEqual([
      old.settlementId,
      young.settlementId,
      other.settlementId,
    ])
  })

  it('shows those of any status, of one client or of all', async () => {
    const { deps, first, second, old, young, other, day } = await aMonth()
    const from = day(30)

    expect(await idsOf(deps, { status: 'failed', from })).toStrictEqual([old.settlementId])
    expect(await idsOf(deps, { status: 'recorded', from })).toStrictEqual([young.settlementId, other.settlementId])
    expect(await idsOf(deps, { status: 'recorded', from, client_id: first })).toStrictEqual([young.settlementId])
    expect(await idsOf(deps, { status: 'manual_paid', from, client_id: second })).toStrictEqual([])
  })

  it('writes a CSV with a line for each', async () => {
    const { deps, old, day } = await aMonth()

    const { body } = await invokeAdmin(listSettlements, deps, { status: 'failed', from: day(30), format: 'csv' })

    const [head, line, rest] = String(Reflect.get(Object(body), 'csv')).split('\n')
    expect(head).toBe(
      'id,client_id,period_start,period_end,status,gross_minor,xendit_fees_minor,hexolus_markup_minor,net_minor,' +
        'payment_count,created_at,settled_at,bank_reference,recredited_at',
    )
    expect(line).toContain(`"${old.settlementId}","${old.clientId}",`)
    expect([line?.includes('"failed"'), rest]).toStrictEqual([true, ''])
  })

  it('goes on at the cursor when a run has no more time', async () => {
    const { deps, day } = await aMonth()
    for (let made = 0; made < 40; made++) {
      await aClient(deps)
    }
    const last = await aSettlement(deps, await aClient(deps), 'R-4')
    const input = { status: 'recorded', from: day(30) }
    let readMs = 0
    const slow = { ...deps, monotonicMs: () => (readMs += 200_000) }

    const first = (await invokeAdmin(listSettlements, slow, input)).body as Listed
    const rest = await listed(deps, { ...input, cursor: first.cursor })

    expect([first.data.length, rest.data.map(({ id }) => id), rest.cursor]).toStrictEqual([
      2,
      [last.settlementId],
      undefined,
    ])
  })

  it.each(['unknown', Buffer.from('{"period":{}}').toString('base64url')])(
    'refuses the cursor %s, which it did not give',
    async (cursor) => {
      expect(await invokeAdmin(listSettlements, memoryDeps(), { status: 'failed', cursor })).toMatchObject({
        status: 422,
        body: { field_errors: { cursor: ['must be the cursor of the run before'] } },
      })
    },
  )

  it('answers 404 for a client that does not exist', async () => {
    const asked = { client_id: crypto.randomUUID(), status: 'failed' }

    expect(await invokeAdmin(listSettlements, memoryDeps(), asked)).toMatchObject({ status: 404 })
  })
})
