import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { handler as listSettlements } from '../../../functions/admin/list-settlements.ts'
import type { ClientId } from '../../../shared/ids.ts'
import { closeStep } from '../../../shared/settlement/settlement-store.ts'
import { clientKey } from '../../../shared/table/keys.ts'
import { exists, update } from '../../../shared/table/step.ts'
import { addMs, DAY_MS } from '../../../shared/time.ts'
import {
  changeClientVerdict,
  readClientVerdict,
} from '../../../shared/verdict/client-verdict-store.ts'
import { adjusted } from '../../support/money-rows.ts'
import { invokeAdmin } from '../../support/operator-actions.ts'
import { auditedNow, sweptNow, withoutFloor } from '../../support/settlement-builders.ts'
import { type MemoryDeps, memoryDeps, queriesIn, recordTable } from '../../support/test-deps.ts'

function asked(deps: MemoryDeps, input: object) {
  return invokeAdmin(listSettlements, deps, input)
}

const HEAD = 'settlement_id,amount,bank_name,bank_account_no,bank_account_name,client_id\n'

async function aSettlement(
  deps: MemoryDeps,
  clientId: ClientId,
  amount = 50_000,
  kind: Kind = 'recovered',
) {
  deps.clock.advance(1)
  await adjusted(deps, { clientId }, kind, amount)
  return sweptNow(deps, { clientId })
}
type Kind = 'recovered' | 'written_off'

type Waiting = {
  readonly bankName?: string
  readonly amount?: number
  readonly kind?: Kind
  readonly isYoung?: true
}

/** One that waits for its payout: audited, unless it is young; without bank details if it names no bank. */
async function aWaiting(deps: MemoryDeps, { bankName, amount = 95_900, kind, isYoung }: Waiting) {
  deps.clock.advance(1)
  const account = { bankAccountNo: '0012345678', bankAccountName: 'PT Warung Kopi Satu' }
  const bank =
    bankName === undefined
      ? undefined
      : { bankName, ...account, since: addMs(deps.now(), -30 * DAY_MS) }
  const settlement = await aSettlement(
    deps,
    (await withoutFloor(deps, { bank })).clientId,
    amount,
    kind,
  )
  if (!isYoung) await auditedNow(deps, settlement)
  return settlement
}

function fileOf(deps: MemoryDeps, more: object = {}) {
  return asked(deps, { status: 'recorded', format: 'csv', ...more })
}
function cursorOf(position: object) {
  return Buffer.from(JSON.stringify(position)).toString('base64url')
}
const NO_ID = crypto.randomUUID()
const [DAY, AT] = ['2026-11-01', '2026-11-01T00:00:00.000Z']
const Csv = v.object({ csv: v.string() })
const BCA = { bankName: 'BCA' }

type Change = (deps: MemoryDeps, clientId: ClientId) => Promise<unknown>

function hold(deps: MemoryDeps, clientId: ClientId): Promise<unknown> {
  return deps.table.write(
    update(clientKey(clientId), { set: { payoutHold: 'police report' } }, exists),
  )
}

async function standing(deps: MemoryDeps, clientId: ClientId): Promise<void> {
  const before = await readClientVerdict(deps, clientId)
  const difference = { what: 'window', id: 'window', expected: 1, found: 2, part: 'kept' }
  await deps.table.write(
    changeClientVerdict(clientId, before, { ...before, standing: [difference] }),
  )
}

describe('list-settlements --status recorded --format csv', () => {
  it('is the bank’s file: one line for each recorded settlement, oldest first; the log has no bank details', async () => {
    const deps = memoryDeps()
    await deps.table.write(closeStep({ ...(await aWaiting(deps, BCA)), status: 'failed' }))
    const first = await aWaiting(deps, BCA)
    const second = await aWaiting(deps, { bankName: 'MANDIRI', amount: 12_345 })
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
    // The open findings are read once for all settlements.
    expect(queriesIn(calls).filter(({ index }) => index === 'by-status')).toHaveLength(1)
  })

  it.each<[string, Waiting, Change?]>([
    ['no bank details', {}],
    ['mark-settlement-paid needs confirm {"unproven":95900}', { ...BCA, kind: 'written_off' }],
    ['payouts of this client are on hold: police report', BCA, hold],
    ['not audited yet', { ...BCA, isYoung: true }],
    ['the books of this client do not balance: see audit-ledger', BCA, standing],
  ])('leaves a settlement out, with the reason: %s', async (reason, waiting, change) => {
    const deps = memoryDeps()
    const { settlementId: settlement_id, clientId } = await aWaiting(deps, waiting)
    await change?.(deps, clientId)

    const body = { csv: HEAD, left_out: [{ settlement_id, reason }] }
    expect(await fileOf(deps)).toStrictEqual({ status: 200, body })
  })

  it('continues at a cursor when one answer cannot hold all', async () => {
    const deps = memoryDeps()
    const settlements = []
    for (let one = 0; one < 3; one++) settlements.push(await aWaiting(deps, BCA))
    const { settlementId: id, createdAt } = settlements[0] ?? { settlementId: '', createdAt: '' }
    const cursor = cursorOf({ id, due_at: createdAt })

    const { csv } = v.parse(Csv, (await fileOf(deps, { cursor })).body)

    const left = settlements.slice(1).map(({ settlementId }) => settlementId)
    expect(csv.split('\n').map((line) => line.slice(1, 37))).toStrictEqual([...left, ''])
  })
})

const UNANSWERED = /^must be the cursor of an earlier answer to the same request$/

it.each<[object, string, RegExp]>([
  [{ format: 'csv', cursor: cursorOf({}) }, 'cursor', UNANSWERED],
  [
    { format: 'csv', cursor: cursorOf({ id: NO_ID, due_at: '2026-13-01T00:00:00.000Z' }) },
    'cursor',
    UNANSWERED,
  ],
  ...[
    {
      period: { from: '2026-11-02', to: '2026-11-01' },
      position: { clientId: NO_ID, createdAt: AT },
    },
    {
      period: { from: DAY, to: DAY },
      position: { clientId: NO_ID, createdAt: '2026-11-31T00:00:00.000Z' },
    },
  ].map((position): [object, string, RegExp] => [
    { from: DAY, cursor: cursorOf(position) },
    'cursor',
    UNANSWERED,
  ]),
  [{ status: 'failed', page: 2 }, 'page', /^use cursor instead/],
  [{ format: 'csv', page: 2 }, 'page', /^use cursor instead/],
  [{ cursor: 'e30' }, 'cursor', /^use page instead/],
  [{ status: undefined }, 'body', /^give client_id, status, from or to$/],
  [{ status: undefined, format: 'csv' }, 'body', /^give client_id, status, from or to$/],
  [{ status: 'swept' }, 'status', /./],
  [{ status: undefined, from: '2026-02-30' }, 'from', /./],
])('list-settlements refuses %j with a reason', async (input, field, reason) => {
  const { status, body } = await asked(memoryDeps(), { status: 'recorded', ...input })

  const field_errors = { [field]: [expect.stringMatching(reason) as unknown] }
  expect([status, body]).toMatchObject([422, { code: 'validation', field_errors }])
})

async function listed(deps: MemoryDeps, input: object) {
  return (await asked(deps, input)).body as {
    data: { id: string }[]
    continuing?: true
    cursor?: string
  }
}

async function idsOf(deps: MemoryDeps, input: object) {
  return (await listed(deps, input)).data.map(({ id }) => id)
}

async function aClient(deps: MemoryDeps) {
  deps.clock.advance(1)
  return (await withoutFloor(deps)).clientId
}

/** Two clients with a settlement on each of two days. The settlements of the first day have failed. */
async function aMonth() {
  const deps = memoryDeps()
  const [first, second] = [await aClient(deps), await aClient(deps)]
  const failed = await aSettlement(deps, first)
  await deps.table.write(closeStep({ ...failed, status: 'failed', settledAt: deps.now() }))
  const { settlementId: old } = failed
  deps.clock.advance(DAY_MS / 1_000)
  const { settlementId: young } = await aSettlement(deps, first)
  const { settlementId: other } = await aSettlement(deps, second)
  const day = (daysAgo: number) =>
    new Date(Date.parse(deps.now()) + 7 * 3_600_000 - daysAgo * DAY_MS).toISOString().slice(0, 10)
  return { deps, first, second, old, young, other, day }
}

describe('list-settlements by status and days', () => {
  it('lists settlements whose period ends on the given days in Jakarta, of one client or all, also as CSV', async () => {
    const { deps, first, second, old, young, other, day } = await aMonth()
    const from = day(30)

    expect(await idsOf(deps, { from, to: day(2) })).toStrictEqual([old])
    expect(await idsOf(deps, { from: day(1), to: day(0) })).toStrictEqual([young, other])
    expect(await idsOf(deps, { from })).toStrictEqual([old, young, other])
    expect(await idsOf(deps, { status: 'failed', from })).toStrictEqual([old])
    expect(await idsOf(deps, { status: 'recorded', from })).toStrictEqual([young, other])
    expect(await idsOf(deps, { status: 'recorded', from, client_id: first })).toStrictEqual([young])
    expect(await idsOf(deps, { status: 'manual_paid', from, client_id: second })).toStrictEqual([])

    const { body } = await asked(deps, { status: 'failed', from, format: 'csv' })
    const [head, line, rest] = v.parse(Csv, body).csv.split('\n')
    expect(head).toBe(
      'id,client_id,period_start,period_end,status,gross_minor,xendit_fees_minor,hexolus_markup_minor,net_minor,' +
        'payment_count,created_at,settled_at,bank_reference,recredited_at',
    )
    expect(line).toContain(`"${old}","${first}",`)
    expect([line?.includes('"failed"'), rest]).toStrictEqual([true, ''])
  })

  it('continues at the cursor when a run has no more time', async () => {
    const { deps, day } = await aMonth()
    for (let made = 0; made < 40; made++) await aClient(deps)
    const last = await aSettlement(deps, await aClient(deps))
    const input = { status: 'recorded', from: day(30) }
    let readMs = 0

    const first = await listed({ ...deps, monotonicMs: () => (readMs += 200_000) }, input)
    const rest = await listed(deps, { ...input, cursor: first.cursor })

    const found = [first.data.length, first.continuing, rest.data.map(({ id }) => id), rest.cursor]
    expect(found).toStrictEqual([2, true, [last.settlementId], undefined])
  })
})
