import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { handler as listSettlements } from '../../../functions/admin/list-settlements.ts'
import { requireClient } from '../../../shared/client/client-store.ts'
import type { ClientId } from '../../../shared/ids.ts'
import { markClosed } from '../../../shared/settlement/settlement-store.ts'
import { clientKey } from '../../../shared/table/keys.ts'
import { exists, update } from '../../../shared/table/step.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import { recordFindings } from '../../../shared/verdict/client-verdict-store.ts'
import { adjustBalance } from '../../support/money-rows.ts'
import { invokeAdmin, shownSettlement } from '../../support/operator-actions.ts'
import {
  aSettledClient,
  auditedNow,
  fail,
  payOut,
  sweptNow,
  withoutFloor,
} from '../../support/settlement-builders.ts'
import { type MemoryDeps, memoryDeps, recordTable, writtenKeys } from '../../support/test-deps.ts'

function listReply(deps: MemoryDeps, input: object) {
  return invokeAdmin(listSettlements, deps, input)
}

const HEAD = 'settlement_id,amount,bank_name,bank_account_no,bank_account_name,client_id\n'

async function aSettlement(deps: MemoryDeps, clientId: ClientId, amount = 50_000) {
  deps.clock.advance(1)
  await adjustBalance(deps, { clientId }, 'correction', amount)
  return sweptNow(deps, { clientId })
}

type Waiting = {
  readonly bankName?: string
  readonly amount?: number
  readonly isChange?: true
  readonly isYoung?: true
}

/** A young settlement is not audited yet. Without a bank name it has no bank details. */
async function aWaitingSettlement(
  deps: MemoryDeps,
  { bankName, amount = 95_900, isChange, isYoung }: Waiting,
) {
  deps.clock.advance(1)
  const account = { bankAccountNo: '0012345678', bankAccountName: 'PT Warung Kopi Satu' }
  const bank =
    bankName === undefined
      ? undefined
      : { bankName, ...account, isChange, since: addMs(deps.now(), -30 * DAY_MS) }
  const settlement = await aSettlement(deps, (await withoutFloor(deps, { bank })).clientId, amount)
  if (!isYoung) await auditedNow(deps, settlement)
  return settlement
}

function fileOf(deps: MemoryDeps, more: object = {}) {
  return listReply(deps, { status: 'recorded', format: 'csv', ...more })
}
function cursorOf(position: object) {
  return Buffer.from(JSON.stringify(position)).toString('base64url')
}
const NO_ID = crypto.randomUUID()
const [DAY, AT] = ['2026-11-01', '2026-11-01T00:00:00.000Z']
const Csv = v.object({ csv: v.string() })
const BCA = { bankName: 'BCA' }

type Change = (deps: MemoryDeps, clientId: ClientId) => Promise<unknown>

function holdPayouts(deps: MemoryDeps, clientId: ClientId): Promise<unknown> {
  return deps.table.write(
    update(clientKey(clientId), { set: { payoutHold: 'police report' } }, exists),
  )
}

async function recordDifference(deps: MemoryDeps, clientId: ClientId): Promise<void> {
  const difference = { what: 'window', id: 'window', expected: 1, found: 2 }
  await recordFindings(deps, clientId, new Map([['kept', [difference]]]), undefined)
}

it('list-settlements lists the recorded settlements of all clients, newest first', async () => {
  const deps = memoryDeps()
  const settleLater = async () => {
    deps.clock.advance(60)
    return (await aSettledClient(deps)).settlement
  }
  const [first, second, third] = [await settleLater(), await settleLater(), await settleLater()]
  const listRecorded = async () =>
    (await invokeAdmin(listSettlements, deps, { status: 'recorded', per_page: 3 })).body
  const pagination = { page: 1, per_page: 3 }

  const data = [third, second, first].map((settlement) => shownSettlement(settlement))
  expect(await listRecorded()).toStrictEqual({ data, pagination })
  await payOut(deps, third)
  await fail(deps, first)

  expect(await listRecorded()).toMatchObject({ data: [{ id: second.settlementId }], pagination })
})

describe('list-settlements --status recorded --format csv', () => {
  it('answers the bank’s file, with one line for each recorded settlement, oldest first, and logs no bank details', async () => {
    const deps = memoryDeps()
    await deps.table.write(
      markClosed({ ...(await aWaitingSettlement(deps, BCA)), status: 'failed' }),
    )
    const first = await aWaitingSettlement(deps, BCA)
    const second = await aWaitingSettlement(deps, { bankName: 'MANDIRI', amount: 12_345 })
    const { deps: recorded, calls } = recordTable(deps)

    const reply = await invokeAdmin(listSettlements, recorded, {
      status: 'recorded',
      format: 'csv',
    })

    const csv =
      `${HEAD}"${first.settlementId}",95900,"BCA","0012345678","PT Warung Kopi Satu","${first.clientId}"\n` +
      `"${second.settlementId}",12345,"MANDIRI","0012345678","PT Warung Kopi Satu","${second.clientId}"\n`
    expect(reply).toStrictEqual({ status: 200, body: { csv, left_out: [] } })
    expect(JSON.stringify(deps.lines)).not.toMatch(/0012345678|Warung Kopi Satu/)
    expect(writtenKeys(calls)).toStrictEqual([])
  })

  it.each<[string, Waiting, Change?]>([
    ['the settlement has no bank details', {}],
    [
      'mark-settlement-paid needs an approval of exactly these figures: there is none ' +
        '{"new_bank":"BCA 0012345678"}',
      { ...BCA, isChange: true },
    ],
    ['payouts of this client are on hold: police report', BCA, holdPayouts],
    ['this settlement was recorded a moment ago', { ...BCA, isYoung: true }],
    ['the books of this client do not balance (differences: 1)', BCA, recordDifference],
  ])('leaves a settlement out, with the reason: %s', async (reason, waiting, change) => {
    const deps = memoryDeps()
    const { settlementId: settlement_id, clientId } = await aWaitingSettlement(deps, waiting)
    await change?.(deps, clientId)

    const body = { csv: HEAD, left_out: [{ settlement_id, reason }] }
    expect(await fileOf(deps)).toStrictEqual({ status: 200, body })
  })

  it('continues at a cursor when one answer cannot hold all settlements', async () => {
    const deps = memoryDeps()
    const settlements = []
    for (let count = 0; count < 3; count++) settlements.push(await aWaitingSettlement(deps, BCA))
    const [first] = settlements
    if (first === undefined) throw new Error('no settlement was made')
    const { clientId, createdAt } = await requireClient(deps, first.clientId)
    const cursor = cursorOf({ position: { clientId, createdAt } })

    const { csv } = v.parse(Csv, (await fileOf(deps, { cursor })).body)

    const leftIds = settlements.slice(1).map(({ settlementId }) => settlementId)
    expect(csv.split('\n').map((line) => line.slice(1, 37))).toStrictEqual([...leftIds, ''])
  })
})

/** November has no such day. */
const NO_POSITION = { clientId: NO_ID, createdAt: '2026-11-31T00:00:00.000Z' }

const FOREIGN_CURSOR = /^must be the cursor of an earlier answer to the same request$/

it.each<[object, string, RegExp]>([
  [{ format: 'csv', cursor: cursorOf({}) }, 'cursor', FOREIGN_CURSOR],
  [{ format: 'csv', cursor: cursorOf({ position: NO_POSITION }) }, 'cursor', FOREIGN_CURSOR],
  ...[
    {
      period: { from: '2026-11-02', to: '2026-11-01' },
      position: { clientId: NO_ID, createdAt: AT },
    },
    { period: { from: DAY, to: DAY }, position: NO_POSITION },
  ].map((position): [object, string, RegExp] => [
    { from: DAY, cursor: cursorOf(position) },
    'cursor',
    FOREIGN_CURSOR,
  ]),
  [{ status: 'failed', page: 2 }, 'page', /^use cursor instead/],
  [{ format: 'csv', page: 2 }, 'page', /^use cursor instead/],
  [{ cursor: 'e30' }, 'cursor', /^use page instead/],
  [{ status: undefined }, 'body', /^give client_id, status, from or to$/],
  [{ status: undefined, format: 'csv' }, 'body', /^give client_id, status, from or to$/],
  [{ status: 'swept' }, 'status', /./],
  [{ status: undefined, from: '2026-02-30' }, 'from', /./],
])('list-settlements refuses %j with a reason', async (input, field, reason) => {
  const { status, body } = await listReply(memoryDeps(), { status: 'recorded', ...input })

  const field_errors = { [field]: [expect.stringMatching(reason) as unknown] }
  expect([status, body]).toMatchObject([422, { code: 'validation', field_errors }])
})

async function listBody(deps: MemoryDeps, input: object) {
  return (await listReply(deps, input)).body as {
    data: { id: string }[]
    continuing?: true
    cursor?: string
  }
}

async function idsOf(deps: MemoryDeps, input: object) {
  return (await listBody(deps, input)).data.map(({ id }) => id)
}

async function aClient(deps: MemoryDeps) {
  deps.clock.advance(1)
  return (await withoutFloor(deps)).clientId
}

/**
 * Two clients with a settlement on each of two days. The settlements of the first day have failed.
 */
async function aMonth() {
  const deps = memoryDeps()
  const [first, second] = [await aClient(deps), await aClient(deps)]
  const failedSettlement = await aSettlement(deps, first)
  await deps.table.write(
    markClosed({ ...failedSettlement, status: 'failed', settledAt: deps.now() }),
  )
  const { settlementId: oldId } = failedSettlement
  deps.clock.advance(DAY_MS / 1_000)
  const { settlementId: youngId } = await aSettlement(deps, first)
  const { settlementId: otherId } = await aSettlement(deps, second)
  const day = (daysAgo: number) =>
    new Date(Date.parse(deps.now()) + 7 * 3_600_000 - daysAgo * DAY_MS).toISOString().slice(0, 10)
  return { deps, first, second, oldId, youngId, otherId, day }
}

describe('list-settlements by status and days', () => {
  it('lists settlements whose period ends on the given days in Jakarta, of one client or all, also as CSV', async () => {
    const { deps, first, second, oldId, youngId, otherId, day } = await aMonth()
    const from = day(30)

    expect(await idsOf(deps, { from, to: day(2) })).toStrictEqual([oldId])
    expect(await idsOf(deps, { from: day(1), to: day(0) })).toStrictEqual([youngId, otherId])
    expect(await idsOf(deps, { from })).toStrictEqual([oldId, youngId, otherId])
    expect(await idsOf(deps, { status: 'failed', from })).toStrictEqual([oldId])
    expect(await idsOf(deps, { status: 'recorded', from })).toStrictEqual([youngId, otherId])
    expect(await idsOf(deps, { status: 'recorded', from, client_id: first })).toStrictEqual([
      youngId,
    ])
    expect(await idsOf(deps, { status: 'manual_paid', from, client_id: second })).toStrictEqual([])

    const { body } = await listReply(deps, { status: 'failed', from, format: 'csv' })
    const [head, line, end] = v.parse(Csv, body).csv.split('\n')
    expect(head).toBe(
      'id,client_id,period_start,period_end,status,gross_minor,xendit_fees_minor,hexolus_markup_minor,net_minor,' +
        'payment_count,created_at,settled_at,bank_reference,recredited_at',
    )
    expect(line).toContain(`"${oldId}","${first}",`)
    expect([line?.includes('"failed"'), end]).toStrictEqual([true, ''])
  })

  it('continues at the cursor when a run has no more time', async () => {
    const { deps, day } = await aMonth()
    for (let made = 0; made < 40; made++) await aClient(deps)
    const last = await aSettlement(deps, await aClient(deps))
    const input = { status: 'recorded', from: day(30) }
    let readMs = 0

    const firstRun = await listBody({ ...deps, monotonicMs: () => (readMs += 200_000) }, input)
    const secondRun = await listBody(deps, { ...input, cursor: firstRun.cursor })

    const ids = secondRun.data.map(({ id }) => id)
    expect([firstRun.data.length, firstRun.continuing]).toStrictEqual([2, true])
    expect([ids, secondRun.cursor]).toStrictEqual([[last.settlementId], undefined])
  })
})
