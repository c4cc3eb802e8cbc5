/**
 * Goal: a settlement of any size is audited in runs of bounded time, and any difference in it stops
 * the payout.
 */
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import {
  auditClient,
  auditLedger,
  auditRecordedSettlement,
} from '../../../shared/audit/run-audits.ts'
import { SettlementIdSchema } from '../../../shared/ids.ts'
import { entryPages } from '../../../shared/journal/read-entries.ts'
import { entryKey, type Key, verdictKey } from '../../../shared/table/keys.ts'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import { readClientVerdict, recordFindings } from '../../../shared/verdict/client-verdict-store.ts'
import {
  moveAudit,
  readSettlementVerdict,
  recordAuditResult,
  requestAudit,
} from '../../../shared/verdict/settlement-verdict-store.ts'
import {
  aDayLater,
  aSettledClient,
  auditedNow,
  inSteps,
  payOut,
} from '../../support/settlement-builders.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { beforeFirst, interceptTable, memoryDeps, type TestDeps } from '../../support/test-deps.ts'

/** One run reads two entries, and by default a block has three entries. */
async function aLongSettlement(block = 3, pages = 1) {
  const deps = inSteps(memoryDeps(), 2, pages, block, 6)
  const { client, settlement } = await aSettledClient(
    deps,
    Array.from({ length: 7 }, () => ({})),
  )
  const { settlementId, clientId, sweptFrom: start, sweptUntil: end } = settlement
  const journalPages = await Array.fromAsync(
    entryPages(deps, { clientId, span: { start, end }, limit: 7 }),
  )
  const [firstKey, , , fourthKey] = journalPages
    .flatMap(({ entries }) => entries)
    .map((entry) => entryKey(clientId, entry))
  if (!firstKey || !fourthKey) throw new Error('a settlement has its entries')
  const verdict = () => readSettlementVerdict(deps, settlementId)
  const standing = async () =>
    (await readClientVerdict(deps, clientId)).standing.map(({ what }) => what)
  const pass = async (passDeps: TestDeps = deps): Promise<number> => {
    const before = deps.sent.length
    await auditedNow(passDeps, { settlementId })
    for (let sent = before; deps.sent.length > sent; sent++)
      await auditRecordedSettlement(passDeps, settlementId)
    return deps.sent.length - before + 1
  }
  const tamper = async (key: Key, fields: object) =>
    putRaw(deps, { ...(await rawItem(deps, key)), ...fields })
  return {
    deps,
    client,
    settlement,
    settlementId,
    firstKey,
    fourthKey,
    verdict,
    standing,
    pass,
    tamper,
  }
}

const it = test.extend('long', () => aLongSettlement())

describe('the audit of a long settlement', () => {
  it('takes several runs, each of which sends the next message; then the payout is allowed', async ({
    long,
  }) => {
    const { deps, settlement, settlementId, client, verdict, standing, pass } = long

    await auditedNow(deps, { settlementId })

    const nextMessage = {
      queue: 'audits',
      message: { body: { settlement_id: settlementId }, group: client.clientId },
    }
    expect(deps.sent.at(-1)).toMatchObject(nextMessage)
    expect(await verdict()).toMatchObject({ state: 'waiting' })
    // A message was lost: the next message continues.
    expect(await pass()).toBe(2)
    const verdictRow = {
      clientId: client.clientId,
      settlementId,
      state: 'audited',
      auditedAt: deps.now(),
      seen: [],
    }
    expect(await deps.table.get(verdictKey(settlementId))).toStrictEqual({
      ...verdictKey(settlementId),
      ...verdictRow,
      id: settlementId,
    })
    expect(await standing()).toStrictEqual([])
    expect(await payOut(deps, settlement)).toMatchObject({ status: 'manual_paid' })
  })

  it('begins again if its progress is unreadable', async ({
    long: { deps, settlementId, verdict, pass, tamper },
  }) => {
    await auditedNow(deps, { settlementId })
    await tamper(verdictKey(settlementId), { progress: { sums: 'altered' } })

    expect(await pass()).toBe(3)
    expect(await verdict()).toMatchObject({ state: 'audited' })
  })

  it.for([
    [
      'confirms a difference of an earlier run if the next pass finds it again',
      101,
      /entry\.markup_minor/,
      1,
    ],
    ['drops a difference of an earlier run if the next pass does not find it again', 100, /^$/, 0],
  ] as const)('%s', async ([, markup_minor, kinds, alerts], { long }) => {
    const { deps, client, firstKey, verdict, standing, pass, tamper } = long
    await tamper(firstKey, { markup_minor: 101 })

    await pass()
    const { state, dueAt, progress } = (await verdict()) ?? {}
    expect([state, dueAt, progress]).toStrictEqual([
      'inconclusive',
      addMs(deps.now(), MINUTE_MS),
      undefined,
    ])
    expect(await standing()).toStrictEqual([])
    await tamper(firstKey, { markup_minor })
    await pass()

    expect(await verdict()).toMatchObject({ state: 'audited' })
    expect((await standing()).join()).toMatch(kinds)
    expect(deps.published).toMatchObject(
      [{ kind: 'audit.imbalance', subject: client.clientId }].slice(0, alerts),
    )
  })

  it('finds an entry’s difference once in two runs', async ({
    long: { fourthKey, standing, pass, tamper },
  }) => {
    await tamper(fourthKey, { external_reference: 'tampered' })

    await pass()
    await pass()

    const entryField = 'entry.external_reference'
    expect((await standing()).filter((what) => what === entryField)).toHaveLength(1)
  })

  it.for([
    ['one page, if its limit is one page', 1, 2, 4],
    ['two minutes of pages', 100, 4, 2],
  ] as const)('reads %s in a run, and each page once', async ([, pages, entryCount, runs]) => {
    const { deps, settlementId, verdict, pass } = await aLongSettlement(1, pages)
    let queries = 0
    const slow = interceptTable(deps, {
      before: (call) => {
        if (call.name !== 'query' || !String(call.query.partition[0]).startsWith('JOURNAL#')) return
        queries += 1
        deps.clock.advance(60)
      },
    })

    await auditedNow(slow, { settlementId })

    expect(await verdict()).toMatchObject({ progress: { sums: { entryCount } } })
    expect(await pass(slow)).toBe(runs - 1)
    expect(queries).toBe(4)
  })

  it('is started again by its client’s audit, which keeps the last differences', async ({
    long,
  }) => {
    const { deps, firstKey, client, verdict, standing, pass, tamper } = long
    expect(await auditLedger(deps, client.clientId)).toStrictEqual({
      balanced: 'inconclusive',
      differences: [],
    })
    await pass()
    await tamper(firstKey, { markup_minor: 101 })
    aDayLater(deps)

    await auditLedger(deps, client.clientId)
    await pass()
    await pass()
    aDayLater(deps)
    const { balanced, differences } = await auditLedger(deps, client.clientId)

    expect(balanced).toBe(false)
    expect(differences.map(({ what }) => what)).toContain('entry.markup_minor')
    expect(await verdict()).toMatchObject({ state: 'audited', dueAt: expect.any(String) })
    await auditClient(deps, client.clientId)
    expect(await standing()).toContain('entry.markup_minor')
  })

  it('keeps what it finds while the audit of its client runs', async () => {
    const { deps, client, settlementId, standing, pass } = await aLongSettlement(3, 100)
    await pass()
    const difference = { what: 'entry', id: settlementId, expected: 1, found: 2 }
    const findings = new Map([[`settlement ${settlementId}`, [difference]]])
    const overtaken = beforeFirst(deps, 'put', () =>
      recordFindings(deps, client.clientId, findings, undefined),
    )

    await auditClient(overtaken, client.clientId)

    expect(await standing()).toStrictEqual(['entry'])
  })

  it('stores progress only with its own claim and its result once; no second audit starts while it is due', async ({
    long,
  }) => {
    const { deps, settlementId, verdict, pass } = long
    const { dueAt } = (await verdict()) ?? {}
    const claimed = { settlementId, dueAt: addMs(deps.now(), 10 * MINUTE_MS) }

    const progressMoved = await moveAudit(deps, claimed, { dueAt: deps.now(), progress: {} })
    const secondAudit = await deps.table.write(requestAudit(settlementId, deps.now()))
    const unknownAudit = await deps.table.write(
      requestAudit(v.parse(SettlementIdSchema, deps.newId()), deps.now()),
    )

    expect([progressMoved, secondAudit.applied, unknownAudit.applied]).toStrictEqual([
      false,
      false,
      false,
    ])
    expect(await verdict()).toMatchObject({ dueAt })
    await pass()
    const result = {
      state: 'inconclusive' as const,
      auditedAt: deps.now(),
      dueAt: deps.now(),
      seen: [],
    }
    expect((await deps.table.write(recordAuditResult(settlementId, result))).applied).toBe(false)
    expect(await verdict()).toMatchObject({ state: 'audited' })
  })
})
