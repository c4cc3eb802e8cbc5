import { describe, expect, it } from 'vitest'
import type { ClientId } from '../../../shared/ids.ts'
import { minor } from '../../../shared/money.ts'
import { encodeCursor } from '../../../shared/page.ts'
import { addMs, DAY_MS, SECOND_MS } from '../../../shared/time.ts'
import { adjustBalance } from '../../support/money-rows.ts'
import {
  auditRecordsOf,
  invokeAdmin,
  OPERATOR,
  refusedWith,
  shownSettlement,
} from '../../support/operator-actions.ts'
import { anOpenPayment, aSucceededPayment, postAssumed } from '../../support/paid-builders.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import {
  aDayLater,
  aSettledClient,
  BANK,
  fail,
  payOut,
  settlementsOf,
  storedSettlement,
  sweptNow,
  withoutFloor,
} from '../../support/settlement-builders.ts'
import { alterSettlement } from '../../support/tampering.ts'
import {
  linesOf,
  type MemoryDeps,
  memoryDeps,
  queriesIn,
  recordTable,
  type TestDeps,
} from '../../support/test-deps.ts'

async function aSettlement(deps: MemoryDeps, clientId: ClientId) {
  deps.clock.advance(1)
  await adjustBalance(deps, { clientId }, 'correction', 50_000)
  return sweptNow(deps, { clientId })
}

const DAY = '2026-11-01'
const POSITION = { clientId: crypto.randomUUID(), createdAt: `${DAY}T00:00:00.000Z` }
it('list-settlements lists the recorded settlements of all clients, newest first', async () => {
  const deps = memoryDeps()
  const settleLater = async () => {
    deps.clock.advance(60)
    return (await aSettledClient(deps)).settlement
  }
  const [first, second, third] = [await settleLater(), await settleLater(), await settleLater()]
  const listRecorded = () => listBody(deps, { status: 'recorded', per_page: 3 })
  const pagination = { page: 1, per_page: 3 }

  const data = [third, second, first].map((settlement) => shownSettlement(settlement))
  expect(await listRecorded()).toStrictEqual({ data, pagination })
  await payOut(deps, third)
  await fail(deps, first)

  expect(await listRecorded()).toMatchObject({ data: [{ id: second.settlementId }], pagination })
})

it.each<[object, string, RegExp]>([
  ...[
    {},
    { period: { from: '2026-11-02', to: DAY }, position: POSITION },
    // November has no such day.
    {
      period: { from: DAY, to: DAY },
      position: { ...POSITION, createdAt: '2026-11-31T00:00:00.000Z' },
    },
  ].map((position): [object, string, RegExp] => [
    { from: DAY, cursor: encodeCursor(position) },
    'cursor',
    /^must be the cursor of an earlier answer to the same request$/,
  ]),
  [{ status: 'failed', page: 2 }, 'page', /^use cursor instead/],
  [{ format: 'csv' }, 'format', /^unknown field$/],
  [{ cursor: 'e30' }, 'cursor', /^use page instead/],
  [{ status: undefined }, 'body', /^give client_id, status, from or to$/],
  [{ status: 'swept' }, 'status', /./],
  [{ status: undefined, from: '2026-02-30' }, 'from', /./],
])('list-settlements refuses %j with a reason', async (input, field, reason) => {
  const { status, body } = await invokeAdmin('list-settlements', memoryDeps(), {
    status: 'recorded',
    ...input,
  })

  const field_errors = { [field]: [expect.stringMatching(reason)] }
  expect([status, body]).toMatchObject([422, { code: 'validation', field_errors }])
})

async function listBody(deps: TestDeps, input: object) {
  return (await invokeAdmin('list-settlements', deps, input)).body as {
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
  await fail(deps, failedSettlement)
  const { settlementId: oldId } = failedSettlement
  deps.clock.pass(DAY_MS)
  const { settlementId: youngId } = await aSettlement(deps, first)
  const { settlementId: otherId } = await aSettlement(deps, second)
  const day = (daysAgo: number) =>
    new Date(Date.parse(deps.now()) + 7 * 3_600_000 - daysAgo * DAY_MS).toISOString().slice(0, 10)
  return { deps, first, second, oldId, youngId, otherId, day }
}

describe('list-settlements by status and days', () => {
  it('lists settlements whose period ends on the given days in Jakarta, of one client or all', async () => {
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
  })

  it('pages those of one client and status, however old, without a foreign one', async () => {
    const { deps, first: client_id, oldId } = await aMonth()
    const foreign = await storedSettlement(deps, {
      clientId: await aClient(deps),
      status: 'failed',
    })
    await alterSettlement(deps, foreign, { owner: client_id })
    deps.clock.pass(60 * DAY_MS)
    const search = { status: 'failed', from: DAY, per_page: 2 }
    const shown = { data: [{ id: oldId }], unreadable_ids: [foreign.settlementId] }
    const paged = { ...shown, pagination: { page: 1, per_page: 2 } }

    expect(await listBody(deps, search)).toMatchObject(shown)
    expect(await listBody(deps, { ...search, client_id })).toMatchObject(paged)
    expect(await listBody(deps, { ...search, client_id, from: undefined })).toMatchObject(paged)
  })

  it('answers those of all clients in pages of per_page, each settlement once', async () => {
    const { deps, oldId, youngId, otherId, day } = await aMonth()
    const pages: string[][] = []
    let cursor: string | undefined

    do {
      const body = await listBody(deps, { from: day(30), per_page: 1, cursor })
      expect(body).toMatchObject({ pagination: { page: 1, per_page: 1 } })
      pages.push(body.data.map(({ id }) => id))
      cursor = body.cursor
    } while (cursor)

    expect(pages).toStrictEqual([[oldId], [youngId], [otherId], []])
  })

  it('continues at the cursor when a run has no more time', async () => {
    const { deps, day } = await aMonth()
    for (let made = 0; made < 40; made++) await aClient(deps)
    const last = await aSettlement(deps, await aClient(deps))
    const input = { status: 'recorded', from: day(30) }
    let readMs = 0

    const firstRun = await listBody({ ...deps, monotonicMs: () => (readMs += 200_000) }, input)
    const secondRun = await listBody(deps, { ...input, cursor: firstRun.cursor })
    const fullPage = await listBody(deps, { ...input, per_page: 3 })
    const watched = recordTable(deps)
    await listBody(watched.deps, { ...input, per_page: 1 })
    const emptyPage = await listBody(deps, { ...input, cursor: fullPage.cursor })

    const ids = secondRun.data.map(({ id }) => id)
    expect([firstRun.data.length, firstRun.continuing]).toStrictEqual([2, true])
    expect([ids, secondRun.cursor]).toStrictEqual([[last.settlementId], undefined])
    expect([fullPage.data.length, emptyPage.data.length]).toStrictEqual([3, 0])
    expect(queriesIn(watched.calls).length).toBeLessThan(10)
  })
})

async function anEligibleClient(fields: Parameters<typeof withoutFloor>[1]) {
  const deps = memoryDeps()
  const client = await withoutFloor(deps, fields)
  await aSucceededPayment(deps, client)
  aDayLater(deps)
  const input = { operator: OPERATOR, client_id: client.clientId }
  return { deps, client, input, settle: () => invokeAdmin('trigger-settlement', deps, input) }
}

describe('trigger-settlement (spec 3.2, rule 4)', () => {
  it('settles by the rules of the sweep, and replies with the settlement', async () => {
    const { deps, client, settle } = await anEligibleClient({
      settlementFloorMinor: minor(95_899),
      bank: BANK,
    })

    const reply = await settle()

    const [settlement] = await settlementsOf(deps, client)
    const settlements = [settlement && shownSettlement(settlement, { triggered_by: 'manual' })]
    expect(reply).toStrictEqual({ status: 200, body: { settlements } })
    // The fence waits one second after the request.
    const times = {
      sweptFrom: client.createdAt,
      sweptUntil: addMs(deps.now(), 1 - SECOND_MS),
      createdAt: deps.now(),
    }
    expect(settlement).toMatchObject(times)
    const after = { status: 'recorded', net_minor: 95_900, client_id: client.clientId }
    const record = { operator: OPERATOR, action: 'trigger-settlement', before: undefined, after }
    expect(await auditRecordsOf(deps, settlement?.settlementId ?? '')).toStrictEqual([record])
    await expectBalanced(deps, client)
  })

  it('is refused at the floor with the eligible, the open and the required amount, and in a closed stage', async () => {
    const { deps, client, input, settle } = await anEligibleClient({
      settlementFloorMinor: minor(95_900),
    })
    const payment = await anOpenPayment(deps, client, { notionalMinor: 50_000 })

    const message =
      'nothing to settle: 95900 IDR are eligible, the floor is 95900 IDR and must be exceeded'
    const hint = (next: string) => ({
      action_hint:
        '45950 IDR are not eligible yet. A payment is eligible 24 hours after it was paid, if ' +
        `the provider has settled it. ${next}`,
    })
    const at = addMs(payment.paidAt ?? deps.now(), DAY_MS)
    const earliest = `The next payment is eligible at ${at} at the earliest: the provider has not settled it.`
    expect(await settle()).toStrictEqual(refusedWith(message, hint(earliest)))
    await postAssumed(deps, payment)
    const soon = `The next payment is eligible at ${at}.`
    expect(await settle()).toStrictEqual(refusedWith(message, hint(soon)))
    const closed = { ...deps, stage: { ...deps.stage, isClosed: true } }
    expect(await invokeAdmin('trigger-settlement', closed, input)).toMatchObject({
      body: { message: 'the stage is closed' },
    })
    await expectBalanced(deps, client)
  })

  it('continues while more payments are overdue than one run posts, not after a dry run', async () => {
    const { deps, client, input, settle } = await anEligibleClient({
      settlementFloorMinor: minor(9e6),
    })
    for (let paid = 0; paid < 51; paid++) await anOpenPayment(deps, client)
    deps.clock.pass(7 * DAY_MS + 1)

    const body = { settlements: [], continuing: true }
    deps.sent.length = 0
    await invokeAdmin('trigger-settlement', deps, { ...input, dry_run: true })
    expect(deps.sent).toStrictEqual([])
    expect(await settle()).toStrictEqual({ status: 200, body })
  })

  it('warns about a settlement without bank details, and the steps of the warning settle its funds', async () => {
    const { deps, client, input, settle } = await anEligibleClient({ bank: undefined })
    const settlement = async () =>
      ((await settle()).body as { settlements: { id: string; warning: string | null }[] })
        .settlements[0]

    const withoutBank = await settlement()
    const listed = await invokeAdmin('list-settlements', deps, { client_id: client.clientId })
    const closingInput = {
      operator: OPERATOR,
      settlement_id: withoutBank?.id,
      notes: 'no bank details',
    }
    const bank = { bank_name: 'BCA', bank_account_no: '0012345678', bank_account_name: 'PT Kopi' }
    await invokeAdmin('update-client', deps, { ...input, bank })
    const failed = await invokeAdmin('mark-settlement-failed', deps, closingInput)
    const recredited = await invokeAdmin('recredit-settlement', deps, closingInput)
    const secondSettlement = await settlement()

    const steps = /^no bank details: .*update-client.*mark-settlement-failed.*recredit-settlement/
    const warning = expect.stringMatching(steps)
    expect(withoutBank).toMatchObject({ warning })
    expect(listed).toMatchObject({ body: { data: [{ id: withoutBank?.id, warning }] } })
    const withoutWarning = { status: 200, body: { warning: null } }
    expect([failed, recredited]).toMatchObject([withoutWarning, withoutWarning])
    expect(secondSettlement).toMatchObject({ bank_account_no: '0012345678', net_minor: 95_900 })
    expect(secondSettlement?.warning).toMatch(/^bank details were entered on /)
    expect(linesOf(deps, 'settlement.without_bank')).toHaveLength(1)
  })
})
