/** Goal: no client is forgotten. */
import { expect, it } from 'vitest'
import { auditClient, startAudits } from '../../../shared/audit/audit-client.ts'
import { auditGateway, auditWholeGateway } from '../../../shared/audit/audit-gateway.ts'
import { dayText } from '../../../shared/audit/judged/audit-journal.ts'
import type { Client } from '../../../shared/client/client.ts'
import { CLIENTS_SUBJECT, registrationKey } from '../../../shared/client/client-register.ts'
import { sweepSettlements } from '../../../shared/settlement/sweep-settlements.ts'
import {
  auditHeadKey,
  auditRecordPk,
  clientKey,
  houseEntryKey,
  suspenseKey,
  syncJobKey,
  windowKey,
} from '../../../shared/table/keys.ts'
import { GATEWAY_OWNER } from '../../../shared/table/schema.ts'
import { DAY_MS, dayNumber } from '../../../shared/time.ts'
import { readVerdict } from '../../../shared/verdict/verdict-store.ts'
import { fileOf } from '../../support/batch-builders.ts'
import { aFinding, bookRefund, halvedSuspense } from '../../support/money-rows.ts'
import { auditRecordsOf, invokeAdmin } from '../../support/operator-actions.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import {
  aDayLater,
  aLoneClient,
  aSettledClient,
  auditedNow,
  inSteps,
  payOut,
  runAudit,
  standingOf,
  withoutFloor,
} from '../../support/settlement-builders.ts'
import { alter, erase, keyOfRow, putRaw, rawItem } from '../../support/tampering.ts'
import { interceptTable, type MemoryDeps, memoryDeps, ownDeps } from '../../support/test-deps.ts'
import { auditedHistory } from './audited-history.ts'

async function twoClients() {
  const { deps, client, settlement } = await aSettledClient()
  const other = await aSettledClient(deps)
  for (const recorded of [settlement, other.settlement]) await auditedNow(deps, recorded)
  deps.sent.length = 0
  return { deps, client, other: other.client }
}

type Loss = (deps: MemoryDeps, client: Client) => Promise<unknown>

function leaveIndex(deps: MemoryDeps, { clientId }: Client) {
  const unlisted = { owner: undefined, entity: undefined, listed_at: undefined, id: undefined }
  return alter(deps, clientKey(clientId), unlisted)
}

async function clientsIn(deps: MemoryDeps, { clientId }: Client, other: Client) {
  const bodyOf = async (action: string, input: object) =>
    JSON.stringify((await invokeAdmin(action, deps, input)).body)
  const texts = [
    await bodyOf('get-books', { format: 'csv' }),
    await bodyOf('list-settlements', { from: '2026-11-01' }),
    JSON.stringify((await fileOf(deps)).rows),
  ]
  return texts.map((text) => [clientId, other.clientId].filter((id) => text.includes(id)).length)
}

it('a client whose row left the index is still swept, audited, and in every book and list of settlements', async () => {
  const { deps, client, other } = await twoClients()
  await leaveIndex(deps, client)

  expect(await sweepSettlements(deps)).toStrictEqual({ clients: 2 })
  expect(await startAudits(deps)).toStrictEqual({ clients: 2 })
  const audited = deps.sent.filter(({ queue }) => queue === 'audits')
  expect(audited.map(({ message }) => message.body)).toStrictEqual([
    { gateway: true },
    { client_id: client.clientId },
    { client_id: other.clientId },
  ])
  // The gate refuses a payout of the client whose row is not as its record says.
  expect(await clientsIn(deps, client, other)).toStrictEqual([2, 2, 1])
  expect(await invokeAdmin('list-clients', deps, {})).toMatchObject({
    body: { data: [{ client_id: other.clientId }] },
  })
})

const UNREGISTERED = [['client', 'not in the register']]

it.each<[string, Loss, found: readonly unknown[][]]>([
  [
    'row leaves the index',
    leaveIndex,
    ['entity', 'id', 'listed_at', 'owner'].map((name) => [`client.${name}`, null]),
  ],
  [
    'record in the register is lost',
    (deps, client) => erase(deps, registrationKey(client)),
    UNREGISTERED,
  ],
  [
    'record in the register is unreadable',
    (deps, client) => alter(deps, registrationKey(client), { after: undefined, number: undefined }),
    UNREGISTERED,
  ],
  [
    'row is lost',
    (deps, { clientId }) => erase(deps, clientKey(clientId)),
    [['client', 'missing']],
  ],
  [
    'row and records are lost',
    async (deps, { clientId }) => {
      for (const row of deps.stored.items(auditRecordPk(clientId))) await erase(deps, keyOfRow(row))
      await erase(deps, clientKey(clientId))
    },
    [['client', 'missing']],
  ],
])(
  'a client whose %s has a difference each day, and no other client has',
  async (_, lose, found) => {
    const { deps, client, other } = await twoClients()
    await lose(deps, client)

    for (let day = 0; day < 2; day++) {
      aDayLater(deps)
      await auditGateway(deps)
      for (const { clientId } of [client, other]) await auditClient(deps, clientId)

      const standing = await standingOf(deps, client)
      expect(standing.map((one) => [one.what, one.found])).toStrictEqual(found)
      expect(await standingOf(deps, other)).toStrictEqual([])
      expect(deps.published.splice(0)).toContainEqual(
        expect.objectContaining({ kind: 'audit.imbalance', subject: client.clientId }),
      )
    }
  },
)

it('a client without row and window stops no other client', async () => {
  const { deps, client, other } = await twoClients()
  for (const key of [clientKey(client.clientId), windowKey(client.clientId)]) await erase(deps, key)

  expect(await clientsIn(deps, client, other)).toStrictEqual([2, 2, 1])
  expect(await invokeAdmin('get-books', deps, {})).toMatchObject({
    body: { balanced: false, differences: [{ what: 'ledger', id: client.clientId }] },
  })
})

it('a difference of no client is told each day until it is accepted, and stops no payout', async () => {
  const { deps, client, settlement } = await aSettledClient()
  await erase(deps, auditHeadKey(CLIENTS_SUBJECT))
  const audit = async () => {
    aDayLater(deps)
    const { body } = await invokeAdmin('audit-ledger', deps, {})
    return { found: Object(body).differences, alerts: deps.published.splice(0).length }
  }

  await audit()
  const { found, alerts } = await audit()
  const acceptance = { operator: 'ana', notes: 'seen', ...found[0] }
  const refused = await invokeAdmin('accept-difference', deps, { ...acceptance, found: 'other' })
  const accepted = await invokeAdmin('accept-difference', deps, acceptance)

  expect([found, alerts]).toMatchObject([[{ what: 'audit_record', id: 'clients' }], 1])
  expect([refused.status, accepted]).toStrictEqual([422, { status: 200, body: found[0] }])
  expect(await audit()).toStrictEqual({ found, alerts: 0 })
  expect(await auditRecordsOf(deps, 'accepted:gateway')).toHaveLength(1)
  expect(await payOut(deps, settlement)).toMatchObject({ clientId: client.clientId })
})

it('the daily audits name each item of a registration that a restore has lost', async () => {
  const { deps, client } = await aLoneClient()

  // The next audit writes a lost verdict anew, and the payout gate waits for that audit.
  const written = deps.changes.map(({ key }) => key).filter(({ pk }) => !pk.startsWith('VERDICT#'))

  const unnamed: string[] = []
  for (const key of written) {
    const lost = await rawItem(deps, key)
    await erase(deps, key)
    await auditGateway(deps)
    await auditClient(deps, client.clientId)
    if (deps.published.splice(0).length === 0) unnamed.push(`${key.pk} ${key.sk}`)
    await putRaw(deps, lost)
    aDayLater(deps)
  }

  expect(written).toHaveLength(22)
  expect(unnamed).toStrictEqual([])
})

it('the audit of the gateway keeps what the audit of a client has found', async () => {
  const { deps, client } = await aLoneClient()
  await halvedSuspense(deps, client)
  await leaveIndex(deps, client)
  const standing = async () =>
    (await standingOf(deps, client)).map(({ part, what }) => [part, what])
  await auditClient(deps, client.clientId)
  const found = await standing()

  await auditGateway(deps)

  expect(found).toContainEqual(['figures', 'client.owner'])
  expect(await standing()).toStrictEqual([...found, ['suspense', 'suspense.amount_minor']])
})

it('old money in suspense is judged by all its entries, beside another difference', async () => {
  const { deps, client, suspense } = await auditedHistory(ownDeps())
  deps.clock.pass(401 * DAY_MS)
  await auditGateway(deps)
  await halvedSuspense(deps, client)
  await alter(deps, suspenseKey(suspense.held), { provider_minor: 1 })
  aDayLater(deps)

  await auditGateway(deps)

  const named = (await standingOf(deps, client)).map(({ what }) => what)
  expect(named).toContain('suspense.provider_minor')
})

/**
 * Goal: a night of the gateway's audit costs what is new and a share of the history, and ends in
 * runs of bounded time.
 */
const ROUNDS = 2
const REFUNDS = 60
const ROUND_MS = (5 * 365 * DAY_MS) / ROUNDS
const NIGHTS = 12

it('a night costs the same after two years and a half and after five', async () => {
  const { deps, client } = await aLoneClient()
  let requests = 0
  const counted = interceptTable(deps, { before: () => void requests++ })
  const nights: number[] = []
  await auditGateway(counted)
  for (let round = 0; round < ROUNDS; round++) {
    for (let at = 0; at < REFUNDS; at++)
      await bookRefund(deps, await aSucceededPayment(deps, client), 10_000)
    deps.clock.pass(ROUND_MS)
    await auditWholeGateway(counted)
    requests = 0
    for (let night = 0; night < NIGHTS; night++) {
      aDayLater(deps)
      await auditGateway(counted)
    }
    nights.push(requests / NIGHTS)
  }

  const [early = 0, late = 0] = nights
  expect(late - early).toBeLessThan(REFUNDS)
})

it('a night in several runs keeps and tells what each run found, and is fresh after the last', async () => {
  const deps = inSteps(memoryDeps(), 2, 3)
  const client = await withoutFloor(deps)
  const strayKey = houseEntryKey(dayText(dayNumber(deps.now())), 'txn-1', 'topup')
  await putRaw(deps, { ...strayKey, type: 'topup' })
  await putRaw(deps, { ...syncJobKey('head'), round: 'x' })
  await halvedSuspense(deps, client)
  for (let at = 0; at < 250; at++) await aFinding(deps, { subject: `txn-${at}` })
  const beganAt = deps.now()
  const verdict = () => readVerdict(deps, GATEWAY_OWNER)

  const fresh: unknown[] = []
  await runAudit(deps, { gateway: true }, async () => {
    fresh.push((await verdict()).figuresAt)
    deps.clock.advance(60)
  })

  expect(fresh.length).toBeGreaterThan(2)
  expect(fresh).toStrictEqual([...fresh.slice(1).map(() => undefined), beganAt])
  expect(deps.published.filter(({ subject }) => subject === GATEWAY_OWNER)).toHaveLength(3)
  const { standing, progress } = await verdict()
  expect(new Set(standing.map(({ what }) => what))).toStrictEqual(
    new Set(['house_entry', 'sync_head']),
  )
  expect(progress).toBeUndefined()
  expect(await standingOf(deps, client)).toMatchObject([
    { part: 'suspense', what: 'suspense.amount_minor' },
  ])
})
