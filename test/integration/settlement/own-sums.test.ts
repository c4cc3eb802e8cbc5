/** Goal: money becomes a client's again only with the sums of its settlement's own entries. */
import { describe, expect } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-client.ts'
import type { Client } from '../../../shared/client/client.ts'
import { paymentTimeline } from '../../../shared/inquiry/payment-timeline.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import {
  findAnySettlement,
  recordedSettlements,
} from '../../../shared/settlement/settlement-store.ts'
import { alertUnpaidSettlements } from '../../../shared/settlement/sweep-settlements.ts'
import { settlementKey } from '../../../shared/table/keys.ts'
import { API, call } from '../../support/api-event.ts'
import { fileOf, twoInABatch } from '../../support/batch-builders.ts'
import { invokeAdmin, invokeWhole, OPERATOR } from '../../support/operator-actions.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { issueKey } from '../../support/payment-builders.ts'
import {
  aSettledClient,
  auditedNow,
  fail,
  payOut,
  recredit,
  sweptADayLater,
  sweptNow,
} from '../../support/settlement-builders.ts'
import {
  alter,
  alterSettlement,
  erase,
  keyOfRow,
  putRaw,
  rawItem,
} from '../../support/tampering.ts'
import type { MemoryDeps, TestDeps } from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'
import { besidePaid } from '../payout/moved-window.ts'
import { recount } from '../recount/torn-world.ts'

function giveAgain(deps: TestDeps, action: string, settlement: Settlement) {
  const details =
    action === 'recredit-settlement' ? { notes: 'again' } : { bank_reference: 'BCA18' }
  const { settlementId: settlement_id } = settlement
  return invokeAdmin(action, deps, { operator: OPERATOR, settlement_id, ...details })
}

const RAISED = { gross_minor: 1_100_000, net_minor: 1_095_900 }
const RAISED_WITH_ENTRIES = { ...RAISED, entry_count: 20_001 }
const RAISED_FIELDS = [
  ['sums', RAISED],
  ['sums and number of entries', RAISED_WITH_ENTRIES],
] as const

const IS_RECREDITED = { recreditedAt: expect.any(String) }

/** Finance accepts each difference of a client, of which there are some. */
async function acceptEach(deps: TestDeps, { clientId }: Pick<Client, 'clientId'>) {
  const { differences } = await auditLedger(deps, clientId)
  expect(differences).not.toStrictEqual([])
  for (const one of differences) {
    const input = { operator: OPERATOR, client_id: clientId, ...one, notes: 'known' }
    expect(await invokeAdmin('accept-difference', deps, input)).toMatchObject({ status: 200 })
  }
  deps.clock.advance(1)
}

function entryOf(deps: MemoryDeps, { clientId }: Client) {
  const entry = deps.stored.items().find(({ pk }) => String(pk) === `JOURNAL#${clientId}`)
  if (entry === undefined) throw new Error('the client has an entry')
  return entry
}

const it = testWith(() => aSettledClient(), 'deps', 'client', 'settlement')

it.for(
  RAISED_FIELDS.flatMap(([fields, raised]) => [
    ['recredit-settlement', fields, fail, raised] as const,
    ['return-payout', fields, payOut, raised] as const,
  ]),
)(
  '%s is refused for a settlement whose %s were raised',
  async ([action, , close, raised], { deps, settlement }) => {
    await close(deps, settlement)
    await alterSettlement(deps, settlement, raised)

    expect(await giveAgain(deps, action, settlement)).toMatchObject({
      status: 422,
      body: { message: expect.stringContaining('not those of its entries') },
    })
  },
)

describe('a re-credit', () => {
  it.each([
    ['moved', 'sweptFrom'],
    ['extended', 'sweptUntil'],
  ] as const)('is refused for a settlement whose window was %s over a paid one', async (_, end) => {
    const { deps, other: failed, moveOver } = await besidePaid(end)
    await fail(deps, failed)
    await moveOver()

    await expect(recredit(deps, failed)).rejects.toMatchObject({
      details: { fieldErrors: { differences: [expect.stringContaining('settlement.swept_from')] } },
    })
  })

  it('is refused, and no failure, if an entry cannot be read, and names the audit', async ({
    deps,
    client,
    settlement,
  }) => {
    await fail(deps, settlement)
    await putRaw(deps, { ...entryOf(deps, client), type: 'x' })

    expect(await giveAgain(deps, 'recredit-settlement', settlement)).toMatchObject({
      status: 422,
      body: { action_hint: expect.stringContaining(`audit-ledger --client_id ${client.clientId}`) },
    })
  })

  it('is made after finance has accepted an entry that nothing explains', async ({
    deps,
    client,
    settlement,
  }) => {
    await fail(deps, settlement)
    const entry = entryOf(deps, client)
    const id = crypto.randomUUID()
    await putRaw(deps, { ...entry, sk: `${String(entry['sk']).split('#')[0]}#${id}`, entry_id: id })
    await recount(deps, client)
    await expect(recredit(deps, settlement)).rejects.toMatchObject({ code: 'validation' })

    await acceptEach(deps, client)

    expect(await recredit(deps, settlement)).toMatchObject({ ...IS_RECREDITED, netMinor: 95_900 })
  })

  it('is made after finance has accepted the sums of a failed payout of a live batch', async () => {
    const { deps, other: failed } = await twoInABatch()
    await fail(deps, failed)
    await alterSettlement(deps, failed, { digest: 'x' })
    // A recount leaves the sums of a live batch as they are.
    await recount(deps, failed)
    expect((await findAnySettlement(deps, failed.settlementId)).digest).toBe('x')
    await expect(recredit(deps, failed)).rejects.toMatchObject({ code: 'validation' })

    await acceptEach(deps, failed)

    expect(await recredit(deps, failed)).toMatchObject(IS_RECREDITED)
  })

  it('is refused if the accepted sums were changed again', async ({ deps, client, settlement }) => {
    await fail(deps, settlement)
    await alterSettlement(deps, settlement, { digest: 'x' })
    await acceptEach(deps, client)
    await alterSettlement(deps, settlement, RAISED)

    await expect(recredit(deps, settlement)).rejects.toThrow('not those of its entries')
  })
})

describe('a transfer that came back', () => {
  it('is booked after finance has accepted the wrong sums of its settlement', async ({
    deps,
    client,
    settlement,
  }) => {
    await payOut(deps, settlement)
    await alterSettlement(deps, settlement, { digest: 'x' })
    await acceptEach(deps, client)

    expect(await giveAgain(deps, 'return-payout', settlement)).toMatchObject({ status: 200 })
  })

  it('gets its lost record again, with no difference left', async ({
    deps,
    client,
    settlement,
  }) => {
    const { settlementId } = await payOut(deps, settlement)
    await giveAgain(deps, 'return-payout', settlement)
    for (const row of deps.stored.items(`AUDIT#${settlementId}`))
      if (row['action'] === 'return-payout') await erase(deps, keyOfRow(row))

    expect(await recount(deps, client)).toMatchObject({ not_repairable: [] })
  })
})

it.for(['recredit-settlement', 'return-payout'])(
  'an unreadable settlement is refused with what to do, and stays',
  async (action, { deps, settlement }) => {
    const owner = action === 'return-payout' ? undefined : settlement.clientId
    await alterSettlement(deps, settlement, { net_minor: 'much', owner })
    const before = deps.stored.items()

    const action_hint = `Run recount-ledger --client_id ${owner ?? '…'}.`
    expect(await giveAgain(deps, action, settlement)).toMatchObject({
      status: 409,
      body: { action_hint },
    })
    expect(deps.stored.items()).toStrictEqual(before)
  },
)

it('the payout of the next settlement is refused if the sums of a re-credit were raised', async ({
  deps,
  client,
  settlement,
}) => {
  await auditedNow(deps, settlement)
  await fail(deps, settlement)
  await recredit(deps, settlement)
  await alterSettlement(deps, settlement, RAISED_WITH_ENTRIES)
  await sweptNow(deps, client)
  deps.clock.advance(61)

  const { rows, leftOut } = await fileOf(deps)

  const reason = expect.stringContaining('do not balance')
  expect([rows, leftOut]).toMatchObject([[], [{ reason }]])
})

/** Goal: a settlement's row that cannot be read hides no other settlement, and is named. */

it('every list and alert shows the others, and the timeline of its payment and each entry name it', async ({
  deps,
  client,
  settlement,
}) => {
  const { settlement: ofOther } = await aSettledClient(deps)
  const payment = await aSucceededPayment(deps, client)
  const { settlementId: settlement_id } = await sweptADayLater(deps, client)
  const { settlementId: id } = settlement
  const key = settlementKey(settlement_id)
  const row = await rawItem(deps, key)
  for (const change of [{ client_id: crypto.randomUUID() }, { payment_count: 'x' }]) {
    await putRaw(deps, { ...row, ...change })
    const { timeline } = await paymentTimeline(deps, payment)
    expect(timeline.settlements).toStrictEqual([
      { settlement_id, status: 'unreadable', settled_at: null },
    ])
  }
  const { header: authorization } = await issueKey(deps, client.clientId)

  const own = await call(deps, API.listSettlements, { caller: { authorization } })

  expect([own.status, own.body]).toMatchObject([200, { data: [{ id }] }])
  expect(deps.lines).toContainEqual(
    expect.objectContaining({
      code: 'row.unreadable',
      fields: { kind: 'settlement', id: settlement_id },
    }),
  )
  deps.clock.advance(4 * 86_400)
  const operatorsLists = [
    [{ client_id: client.clientId }, [id]],
    [{ status: 'recorded' }, [id, ofOther.settlementId]],
    [{ from: '2026-11-01' }, [id, ofOther.settlementId]],
  ] as const
  for (const [asked, ids] of operatorsLists) {
    const { body } = await invokeWhole('list-settlements', deps, asked)
    const { data, unreadable_ids } = body as { data: { id: string }[]; unreadable_ids: unknown }
    expect(new Set(data.map((shown) => shown.id))).toStrictEqual(new Set(ids))
    expect(unreadable_ids).toStrictEqual([settlement_id])
  }
  await alertUnpaidSettlements(deps)
  const [alert] = deps.published
  expect(alert).toMatchObject({ kind: 'settlement.unpaid', subject: settlement_id })
  expect(alert?.message).toContain(ofOther.settlementId)
  expect(alert?.message).toContain('the first 1 cannot be read')

  await alter(deps, settlementKey(id), { swept_from: 1 })
  const entries = await call(deps, API.listBalanceEntries, { caller: { authorization } })
  expect(entries.body).toMatchObject({ data: [{ settlement_id: id }, { settlement_id }] })
})

it('a settlement with an altered id or owner, or a forged key, stops no list, alert or payout', async ({
  deps,
  client,
  settlement,
}) => {
  const { settlementId } = settlement
  await alterSettlement(deps, { settlementId }, { id: 'x' })
  await alter(deps, settlementKey(settlementId), { pk: 'SETTLEMENT#x' })
  const { settlement: foreign } = await aSettledClient(deps)
  await alterSettlement(deps, foreign, { owner: client.clientId })

  const { settlements } = await recordedSettlements(deps, client.clientId)
  expect(settlements).toMatchObject([{ settlementId }])
  deps.clock.advance(4 * 86_400)
  await alertUnpaidSettlements(deps)
  expect(deps.published).toMatchObject([{ subject: settlementId }])
  expect(await invokeWhole('list-settlements', deps, { from: '2026-11-01' })).toMatchObject({
    body: { data: [{ id: settlementId }] },
  })
})
