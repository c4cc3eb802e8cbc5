import { describe, expect, it } from 'vitest'
import { auditClient, auditLedger } from '../../../shared/audit/audit-client.ts'
import { auditGateway, auditWholeGateway } from '../../../shared/audit/audit-gateway.ts'
import { auditFigures } from '../../../shared/audit/judged/audit-figures.ts'
import { dayText } from '../../../shared/audit/judged/audit-journal.ts'
import { readClientBooks } from '../../../shared/audit/judged/client-books.ts'
import { recountLedger } from '../../../shared/recount/recount-ledger.ts'
import { BATCHES_SUBJECT } from '../../../shared/settlement/batch/batch.ts'
import {
  auditHeadKey,
  batchKey,
  eventsPk,
  houseEntryKey,
  paymentKey,
  shardKey,
  verdictKey,
  windowKey,
} from '../../../shared/table/keys.ts'
import { GATEWAY_OWNER } from '../../../shared/table/schema.ts'
import { dayNumber } from '../../../shared/time.ts'
import { askForFile, aWaitingSettlement, fileOf } from '../../support/batch-builders.ts'
import { invokeWhole } from '../../support/operator-actions.ts'
import { anOpenPayment } from '../../support/paid-builders.ts'
import { ledgerView } from '../../support/payment-builders.ts'
import { expectHouseBalanced } from '../../support/recount/expect-balanced.ts'
import {
  aDayLater,
  aLoneClient,
  aSettledClient,
  standingOf,
} from '../../support/settlement-builders.ts'
import { alter, changeRow, putRaw, type Raw, rawItem } from '../../support/tampering.ts'
import { type MemoryDeps, memoryDeps } from '../../support/test-deps.ts'
import { anAuditedSettlement } from '../payout/recorded-settlement.ts'
import { recount } from '../recount/torn-world.ts'
import { auditedHistory } from './audited-history.ts'

const NO_TIME = '2026-13-45T99:99:99.999Z'
const END_OF_TIME = '9999-12-31T23:59:59.999Z'
const LARGEST = Number.MAX_SAFE_INTEGER

type World = ReturnType<typeof history>

const MADE_WITH = memoryDeps()
const MADE = await auditedHistory(MADE_WITH)
const HEAD = auditHeadKey(MADE.settlements.paid.settlementId)

function history() {
  const { stored, provider } = MADE_WITH
  const deps = { ...memoryDeps({}, stored.items()), provider }
  deps.clock.set(MADE_WITH.now())
  return { ...MADE, deps }
}

function storedRow(deps: MemoryDeps, pkStart: string, isWanted: (row: Raw) => boolean) {
  const found = deps.stored
    .items()
    .find((row) => String(row['pk']).startsWith(pkStart) && isWanted(row))
  if (found === undefined) throw new Error(`there is no row of ${pkStart}`)
  return found
}

function heldEntry({ deps }: World) {
  return storedRow(deps, 'JOURNAL#house', (row) => row['suspense_id'] === 'py-held')
}

describe('an audit of the gateway goes on, and another client is paid, after a change of', () => {
  it.each<readonly [string, (world: World) => Raw | Promise<Raw>, object]>([
    ['a house entry to a time that is no time', heldEntry, { posted_at: NO_TIME }],
    ['a house entry to the end of time', heldEntry, { posted_at: END_OF_TIME }],
    ['the amount of a house entry to the largest number', heldEntry, { provider_minor: LARGEST }],
    [
      'the creation of a payment with held money to a time that is no time',
      ({ deps }) => storedRow(deps, 'PAYMENT#', ({ held }) => held !== undefined),
      { listed_at: NO_TIME },
    ],
    [
      "the version of the gateway's verdict to the largest number",
      ({ deps }) => rawItem(deps, verdictKey(GATEWAY_OWNER)),
      { version: LARGEST },
    ],
  ])('%s', async (_, rowOf, changes) => {
    const world = history()
    const { deps } = world
    const other = await aSettledClient(deps)
    await putRaw(deps, { ...(await rowOf(world)), ...changes })
    aDayLater(deps)
    await auditGateway(deps)
    await auditWholeGateway(deps)
    await recountLedger(deps, { operator: 'ana' })
    await auditClient(deps, other.client.clientId)
    const { ids } = await fileOf(deps)
    expect(ids).toContain(other.settlement.settlementId)
  })
})

describe('an audit of a client has differences, and books and a recount answer, after a change of', () => {
  it.each<readonly [string, string, (row: Raw) => boolean, object]>([
    ['the time of payment', 'PAYMENT#', isPosted, { paid_at: NO_TIME }],
    ['the creation of a payment', 'PAYMENT#', isPosted, { listed_at: NO_TIME }],
    ['the time of an event', 'EVENT#payment', () => true, { listed_at: NO_TIME }],
    ['the time of an entry', 'JOURNAL#', ({ type }) => type === 'recredit', { posted_at: NO_TIME }],
    ['the fence of the window', 'LEDGER#', isWindow, { settled_until: NO_TIME }],
    ['the end of a settlement', 'SETTLEMENT#', isRecorded, { swept_until: NO_TIME }],
    ['the record of a settlement', 'SETTLEMENT#', isRecorded, { created_at: END_OF_TIME }],
    [
      'the credits of a shard',
      'LEDGER#',
      ({ sk }) => sk === 'SHARD#00',
      { credited_minor: LARGEST },
    ],
    ['the payouts of the window', 'LEDGER#', isWindow, { paid_out_minor: LARGEST }],
    [
      'the net of an entry',
      'JOURNAL#',
      ({ type, pk }) => type === 'correction' && pk !== 'JOURNAL#house',
      { net_minor: LARGEST },
    ],
    ['the net of a settlement', 'SETTLEMENT#', isRecorded, { net_minor: LARGEST }],
    [
      'the number in the head of a chain of records',
      HEAD.pk,
      ({ sk }) => sk === HEAD.sk,
      { number: 'x' },
    ],
  ])('%s', async (_, pk, isWanted, changes) => {
    const { deps, client } = history()
    const { clientId } = client
    await putRaw(deps, { ...storedRow(deps, pk, isWanted), ...changes })
    aDayLater(deps)
    await auditGateway(deps)
    await auditClient(deps, clientId)
    const { differences } = await auditLedger(deps, clientId)
    await recountLedger(deps, { clientId, operator: 'ana' })
    expect(await invokeWhole('get-books', deps, {})).toMatchObject({ body: { balanced: false } })
    expect(differences).not.toStrictEqual([])
    expect(await standingOf(deps, { clientId })).not.toStrictEqual([])
  })
})

function isPosted({ status, posted_at: postedAt }: Raw) {
  return status === 'succeeded' && postedAt !== undefined
}

function isWindow({ sk }: Raw) {
  return sk === 'WINDOW'
}

function isRecorded({ status }: Raw) {
  return status === 'recorded'
}

it('a row beside the shards of a ledger is named, and hides no window', async () => {
  const { deps, client, pay } = await anAuditedSettlement()
  const { clientId } = client
  const { pk, closed_until } = await rawItem(deps, shardKey(clientId, 0))
  await putRaw(deps, { pk, sk: 'SHARD#16', closed_until })
  const before = await ledgerView(deps, { clientId })
  const { differences } = await auditLedger(deps, clientId)
  expect(differences).toStrictEqual([
    { what: 'ledger_row', id: 'SHARD#16', expected: 'none', found: 'present' },
  ])
  expect(await ledgerView(deps, { clientId })).toStrictEqual(before)
  expect(await pay()).toMatchObject({ status: 422 })
  expect(await rawItem(deps, windowKey(clientId))).toBeDefined()
})

it('an open payment whose row cannot be read is a difference of the figures', async () => {
  const { deps, client } = await aLoneClient()
  const { paymentId: id } = await anOpenPayment(deps, client)
  await alter(deps, paymentKey(id), { listed_at: NO_TIME })
  const unreadable = { what: 'payment', id, expected: 'readable', found: 'unreadable' }
  const books = await readClientBooks(deps, client)
  expect(await auditFigures(deps, books)).toContainEqual(unreadable)
})

it('each night the audit of the gateway reads the house rows of three days', async () => {
  const { deps } = history()
  await auditGateway(deps)
  aDayLater(deps)
  const day = dayText(dayNumber(deps.now()) - 3)
  await putRaw(deps, { ...houseEntryKey(day, 'txn-stray', 'topup'), type: 'topup' })
  await auditGateway(deps)
  const standing = await standingOf(deps, { clientId: GATEWAY_OWNER })
  expect(standing).toMatchObject([{ part: 'suspense', what: 'house_entry' }])
})

it('an event of a type that only a later release has is an unknown name to the audit, and keeps no recount from the figures and no payout', async () => {
  const { deps, client, payment, pay } = await anAuditedSettlement()
  const { clientId } = client
  const event = storedRow(deps, eventsPk({ kind: 'payment', id: payment.paymentId }), () => true)
  const sk = 'payment.refund_requested'
  await putRaw(deps, { ...event, sk, id: crypto.randomUUID(), listed_at: deps.now() })
  expect((await auditLedger(deps, clientId)).differences).toMatchObject([
    { what: 'event.payment.refund_requested', expected: 'a name of this release' },
  ])
  const credit = { add: { creditedMinor: 7 }, set: { creditedAt: deps.now() } }
  await changeRow(deps, shardKey(clientId, 3), credit)
  await recount(deps, client)
  await auditLedger(deps, clientId)
  expect(await pay()).toMatchObject({ status: 200 })
})

describe('a batch', () => {
  it('whose row cannot be read stops no payout of another client', async () => {
    const { deps, other, batch } = await aBatchAndAnother()
    await alter(deps, batchKey(batch), { number: 'x' })
    const { differences } = await auditWholeGateway(deps)
    await recountLedger(deps, { operator: 'ana' })
    expect(differences).not.toStrictEqual([])
    expect((await fileOf(deps)).ids).toStrictEqual([other.settlementId])
  })

  it.each([
    ['no readable number', { number: 'x' }],
    ['the largest number', { number: LARGEST }],
    ['no whole number', { number: 0.5 }],
    ['the number zero', { number: 0 }],
    ['no digest', { digest: undefined }],
    ['a number as its digest', { digest: 5 }],
  ])('whose register has a head with %s gets it back by a recount', async (_, changes) => {
    const { deps, other } = await aBatchAndAnother()
    await alter(deps, auditHeadKey(BATCHES_SUBJECT), changes)
    expect(await askForFile(deps)).toMatchObject({ status: 409 })
    await recount(deps, 'gateway')
    await expectHouseBalanced(deps)
    expect((await fileOf(deps)).ids).toStrictEqual([other.settlementId])
  })

  it('whose row cannot be read can be cancelled like one that is lost', async () => {
    const deps = memoryDeps()
    await aWaitingSettlement(deps)
    const { batch } = await fileOf(deps)
    const cancel = batch?.number ?? 0
    await alter(deps, batchKey(cancel), { number: 'x' })
    const message = expect.stringContaining('needs an approval')
    const answer = await askForFile(deps, { cancel, notes: 'lost' })
    expect(answer).toMatchObject({ status: 422, body: { message } })
  })
})

async function aBatchAndAnother() {
  const deps = memoryDeps()
  await aWaitingSettlement(deps)
  const { batch } = await fileOf(deps)
  return { deps, batch: batch?.number ?? 0, other: await aWaitingSettlement(deps) }
}
