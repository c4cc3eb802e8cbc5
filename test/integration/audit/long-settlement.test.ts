/**
 * Goal: a settlement of any size is audited in runs of bounded time, before it is paid out, and any
 * difference in it stops the payout.
 */
import { describe, expect, test } from 'vitest'
import { auditClient, auditLedger } from '../../../shared/audit/audit-client.ts'
import { auditWholeGateway } from '../../../shared/audit/audit-gateway.ts'
import { issueApiKey } from '../../../shared/client/api-key-store.ts'
import { entryPages } from '../../../shared/journal/read-entries.ts'
import { markSettlementPaid } from '../../../shared/payout/mark-settlement-paid.ts'
import { digestOfSums } from '../../../shared/settlement/long-settlement.ts'
import { entryKey, type Key, settlementKey, verdictKey } from '../../../shared/table/keys.ts'
import { DAY_MS, dayNumber } from '../../../shared/time.ts'
import { readVerdict } from '../../../shared/verdict/verdict-store.ts'
import {
  aSettledClient,
  bringBack,
  fail,
  inSteps,
  payOut,
  recredit,
  runAudit,
  sweptNow,
} from '../../support/settlement-builders.ts'
import { alter, putRaw, rawItem } from '../../support/tampering.ts'
import {
  beforeFirst,
  interceptTable,
  memoryDeps,
  type TestDeps,
  withoutQueue,
  withoutTopic,
} from '../../support/test-deps.ts'

/** One run reads two entries, and by default a block has three entries. */
async function aLongSettlement(block = 3, pages = 1) {
  const deps = inSteps(memoryDeps(), 2, pages, block, 6)
  const payments = Array.from({ length: 7 }, () => ({}))
  const { client, settlement } = await aSettledClient(deps, payments)
  const { settlementId, clientId, sweptFrom: start, sweptUntil: end } = settlement
  const journalPages = await Array.fromAsync(
    entryPages(deps, { clientId, span: { start, end }, limit: 7 }),
  )
  const [firstKey, , , fourthKey] = journalPages
    .flatMap(({ entries }) => entries)
    .map((entry) => entryKey(clientId, entry))
  if (!firstKey || !fourthKey) throw new Error('a settlement has its entries')
  deps.clock.advance(60)
  await auditWholeGateway(deps)
  /** Answers the number of runs. */
  const pass = (passDeps: TestDeps = deps, firstId?: string) =>
    runAudit(passDeps, { client_id: clientId, audit_id: firstId })
  const tamper = async (key: Key, fields: object) => alter(deps, key, fields)
  const verdict = () => readVerdict(deps, clientId)
  return { deps, client, settlement, settlementId, firstKey, fourthKey, pass, tamper, verdict }
}

type Long = Awaited<ReturnType<typeof aLongSettlement>>

const it = test.extend('long', () => aLongSettlement())

it('is asked for by whoever records the settlement, and refuses the payout until its end', async ({
  long: { deps, client, settlement, settlementId, pass, verdict },
}) => {
  const message = { body: { client_id: client.clientId }, delaySeconds: 60, group: client.clientId }
  expect(deps.sent).toContainEqual({ queue: 'audits', message })

  await auditClient(deps, client.clientId)
  const { progress, longSettlements } = await verdict()
  const payout = { settlementId, operator: 'x', bankReference: 'y', confirm: {} }
  await expect(markSettlementPaid(deps, payout)).rejects.toThrow('has not ended')

  expect([progress?.state !== undefined, longSettlements]).toStrictEqual([true, {}])
  expect(await pass()).toBeGreaterThan(1)
  expect((await verdict()).longSettlements).toStrictEqual({
    [settlementId]: digestOfSums(settlement),
  })
  expect(await payOut(deps, settlement)).toMatchObject({ status: 'manual_paid' })
})

it.for([
  ['begins again if its progress is unreadable', { state: { sums: 'altered' } }],
  [
    'takes no progress of another part, which an audit on demand may have left',
    {
      part: 'payments 2026-01-01',
      found: [{ what: 'payment.net_minor', id: 'other', expected: 1, found: 2 }],
    },
  ],
] as const)('%s', async ([, altered], { long: { deps, client, settlementId, ...long } }) => {
  await auditClient(deps, client.clientId)
  const { progress } = await long.verdict()
  await long.tamper(verdictKey(client.clientId), { progress: { ...progress, ...altered } })

  await long.pass(deps, progress?.auditId)

  const { standing, longSettlements } = await long.verdict()
  expect([standing, Object.keys(longSettlements)]).toStrictEqual([[], [settlementId]])
})

it.for([
  ['of its first run', 'firstKey', { markup_minor: 101 }, 'entry.markup_minor'],
  ['between two runs once', 'fourthKey', { external_reference: 'x' }, 'entry.external_reference'],
] as const)('keeps a difference %s', async ([, key, fields, what], { long }) => {
  const { deps, client, settlement, pass, tamper, verdict } = long
  await tamper(long[key], fields)

  await pass()

  const { standing } = await verdict()
  expect(standing.filter((one) => one.what === what)).toHaveLength(1)
  expect(deps.published).toContainEqual(expect.objectContaining({ subject: client.clientId }))
  await expect(payOut(deps, settlement)).rejects.toThrow('do not balance')
})

it.for([
  ['one page, if its limit is one page', 1, 4],
  ['two minutes and a half of pages', 100, 2],
] as const)('reads %s in a run, and each page once', async ([, pages, runs]) => {
  const { deps, settlement, pass } = await aLongSettlement(1, pages)
  let queries = 0
  const slow = interceptTable(deps, {
    before: (call) => {
      const range = call.name === 'query' ? call.query.range : undefined
      if (!range || !('between' in range) || range.between[0] !== settlement.sweptFrom) return
      queries += 1
      deps.clock.advance(60)
    },
  })

  expect(await pass(slow)).toBeGreaterThanOrEqual(runs)
  expect(queries).toBe(4)
})

it('is judged by the daily audit if its message was lost, and again after a new digest', async ({
  long: { client, settlement, settlementId, pass, verdict, tamper },
}) => {
  await pass()
  await tamper(verdictKey(client.clientId), { long_settlements: { [settlementId]: 'older' } })

  await pass()

  expect((await verdict()).longSettlements).toStrictEqual({
    [settlementId]: digestOfSums(settlement),
  })
})

it('is audited anew by the schedule, and the messages of the audit before do nothing', async ({
  long: { deps, client, settlementId, pass, verdict },
}) => {
  await auditClient(deps, client.clientId)
  const { progress: replaced } = await verdict()
  await auditClient(deps, client.clientId)
  const { progress } = await verdict()
  const { length } = deps.sent

  await auditClient(deps, client.clientId, replaced?.auditId)

  expect(replaced?.auditId).not.toBe(progress?.auditId)
  expect([(await verdict()).progress, deps.sent.length]).toStrictEqual([progress, length])
  await pass(deps, progress?.auditId)
  expect(Object.keys((await verdict()).longSettlements)).toStrictEqual([settlementId])
})

it('goes on during audits on demand, which keep what they find, and alert', async ({
  long: { deps, client, settlementId, firstKey, pass, tamper, verdict },
}) => {
  const { clientId } = client
  await tamper(firstKey, { markup_minor: 101 })
  await auditClient(deps, clientId)
  const [{ progress }, { length }, part] = [
    await verdict(),
    deps.sent,
    `settlement ${settlementId}`,
  ]
  let readAt = 0
  const slow = { ...deps, monotonicMs: () => (readAt += 100_000) }

  const { unread } = await auditLedger(slow, clientId, part)

  expect([unread, deps.sent.length]).toStrictEqual([part, length])
  const found = expect.objectContaining({ what: 'entry.sides', part })
  expect((await verdict()).standing).toContainEqual(found)
  expect(deps.published).toMatchObject([{ subject: clientId }])
  const overtaken = beforeFirst(slow, 'batchGet', () => pass(deps, progress?.auditId))
  await auditLedger(overtaken, clientId, part)
  expect((await verdict()).longSettlements).toHaveProperty(settlementId)
})

it('is read again on demand, also after its own audit', async ({
  long: { deps, client, firstKey, pass },
}) => {
  await pass()
  await putRaw(deps, { ...(await rawItem(deps, firstKey)), sk: `${firstKey.sk}0` })

  expect(await auditLedger(deps, client.clientId)).toMatchObject({ balanced: false })
})

it('goes on after a run that died before it sent the next message', async ({
  long: { deps, client, settlementId, pass, verdict },
}) => {
  await auditClient(deps, client.clientId)
  const { auditId } = (await verdict()).progress ?? {}
  const dying = auditClient(withoutQueue(deps), client.clientId, auditId)
  await expect(dying).rejects.toThrow('no queue')
  const { figuresAt } = await verdict()
  deps.clock.advance(60)

  await pass(deps, auditId)

  const { longSettlements, figuresAt: figuresAtEnd } = await verdict()
  expect([Object.keys(longSettlements), figuresAtEnd]).toStrictEqual([[settlementId], figuresAt])
})

it('warns of an ending key in its first run alone, and ends while alerts fail', async ({
  long: { deps, client, pass, verdict },
}) => {
  const expiresInSeconds = (60 * DAY_MS) / 1_000
  await issueApiKey(deps, { clientId: client.clientId, operator: 'x', expiresInSeconds })
  deps.clock.advance(expiresInSeconds / 2)
  deps.published.length = 0

  await auditClient(deps, client.clientId)
  await pass(withoutTopic(deps), (await verdict()).progress?.auditId)

  expect(deps.published).toMatchObject([{ kind: 'client.key_ends' }])
  expect((await verdict()).historyDay).toBe(dayNumber(deps.now()))
})

function raised({ grossMinor, netMinor }: Long['settlement']) {
  return { gross_minor: grossMinor + 1_000_000, net_minor: netMinor + 1_000_000 }
}

it('is re-credited only with sums that an audit has found to be those of its entries', async ({
  long: { deps, settlement, settlementId, pass, tamper },
}) => {
  const { grossMinor: gross_minor, netMinor: net_minor } = settlement
  await pass()
  await fail(deps, settlement)
  await tamper(settlementKey(settlementId), raised(settlement))
  await expect(recredit(deps, settlement)).rejects.toThrow('has not ended')
  await pass()
  await expect(recredit(deps, settlement)).rejects.toThrow('not those of its entries')

  await tamper(settlementKey(settlementId), { gross_minor, net_minor })
  await pass()

  expect(await recredit(deps, settlement)).toMatchObject({ status: 'failed' })
})

describe('a settlement that carries a long one', () => {
  /** Answers the payout of the settlement after it. */
  async function carrying({ deps, client, settlement, pass, tamper }: Long, fields = {}) {
    await pass()
    await fail(deps, settlement)
    await recredit(deps, settlement)
    await tamper(settlementKey(settlement.settlementId), fields)
    deps.clock.advance(60)
    const { settlementId } = await sweptNow(deps, client)
    deps.clock.advance(60)
    const payout = { settlementId, operator: 'x', bankReference: 'y', confirm: {} }
    return () => markSettlementPaid(deps, payout)
  }

  it('is paid out after the audit of the long one', async ({ long }) => {
    const pay = await carrying(long)

    expect(await pay()).toMatchObject({ status: 'manual_paid' })
  })

  it('waits for a new audit of the long one if its result was lost', async ({ long }) => {
    const pay = await carrying(long)
    await long.tamper(verdictKey(long.client.clientId), { long_settlements: {} })
    await expect(pay()).rejects.toThrow('has not ended')

    await long.pass()

    expect(await pay()).toMatchObject({ status: 'manual_paid' })
  })

  it('is not paid out if the net of the long one was raised after its audit', async ({ long }) => {
    const pay = await carrying(long, raised(long.settlement))
    await expect(pay()).rejects.toThrow('has not ended')

    await long.pass()

    await expect(pay()).rejects.toThrow('do not balance')
  })
})

it('comes back after its payout only with the sums that its audit has proven', async ({
  long: { deps, settlement, settlementId, pass, tamper },
}) => {
  await pass()
  await payOut(deps, settlement)
  await tamper(settlementKey(settlementId), { net_minor: 9_000_000, gross_minor: 9_028_700 })

  await expect(bringBack(deps, settlement)).rejects.toThrow('has not ended')
})
