/** Goal: a settlement of any size is audited in runs of bounded time, and no difference of it lets a payout pass. */
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import { auditClient, auditLedger, auditRecorded } from '../../../shared/audit/run-audits.ts'
import { SettlementIdSchema } from '../../../shared/ids.ts'
import { entryPages } from '../../../shared/journal/read-entries.ts'
import { entryKey, verdictKey } from '../../../shared/table/keys.ts'
import { addMs, MINUTE_MS } from '../../../shared/time.ts'
import { noteFound, readClientVerdict } from '../../../shared/verdict/client-verdict-store.ts'
import {
  auditAgain,
  moveAudit,
  noteAudited,
  readSettlementVerdict,
} from '../../../shared/verdict/settlement-verdict-store.ts'
import { aDayLater, aSettledClient, auditedNow, inSteps, payOut } from '../../support/settlement-builders.ts'
import { putRaw, rawItem } from '../../support/tampering.ts'
import { beforeFirst, interceptTable, memoryDeps, type TestDeps } from '../../support/test-deps.ts'

/** A recorded settlement of seven payments. One run reads two entries, and by default three are a block. */
const aLong = async (block = 3, pages = 1) => {
  const deps = inSteps(memoryDeps(), 2, pages, block, 6)
  const { client, settlement } = await aSettledClient(
    deps,
    Array.from({ length: 7 }, () => ({})),
  )
  const { settlementId, clientId, sweptFrom: start, sweptUntil: end } = settlement
  const read = await Array.fromAsync(entryPages(deps, { clientId, parts: 1, span: { start, end }, limit: 7 }))
  const [firstKey, , , fourthKey] = read.flatMap(({ entries }) => entries).map((entry) => entryKey(client, entry))
  if (!firstKey || !fourthKey) throw new Error('a settlement has its entries')
  return { deps, client, settlement, settlementId, firstKey, fourthKey }
}
type Long = Awaited<ReturnType<typeof aLong>>

/** The runs of one pass, from the due time on: how many there were. */
const pass = async ({ deps, settlementId }: Pick<Long, 'deps' | 'settlementId'>): Promise<number> => {
  const before = deps.sent.length
  await auditedNow(deps, { settlementId })
  for (let sent = before; deps.sent.length > sent; sent++) await auditRecorded(deps, settlementId)
  return deps.sent.length - before + 1
}

const stateOf = async ({ deps, settlementId }: Long) => (await readSettlementVerdict(deps, settlementId))?.state

const standingOf = async ({ deps, client }: Long) =>
  (await readClientVerdict(deps, client.clientId)).standing.map(({ what }) => what)

const tamper = async (deps: TestDeps, key: Long['firstKey'], fields: object) =>
  putRaw(deps, { ...(await rawItem(deps, key)), ...fields })

describe('the audit of a long settlement', () => {
  it('takes several runs that each send the next message, continues after a lost message, and then allows the payout', async () => {
    const long = await aLong()
    const { deps, settlement, settlementId, client } = long

    await auditedNow(deps, { settlementId })

    const next = { queue: 'audits', message: { body: { settlement_id: settlementId }, group: client.clientId } }
    expect(deps.sent.at(-1)).toMatchObject(next)
    expect(await stateOf(long)).toBe('waiting')
    expect(await pass(long)).toBe(2)
    const audited = { clientId: client.clientId, settlementId, state: 'audited', auditedAt: deps.now(), seen: [] }
    expect(await deps.table.get(verdictKey(settlementId))).toStrictEqual({
      ...verdictKey(settlementId),
      ...audited,
      id: settlementId,
    })
    expect(await standingOf(long)).toStrictEqual([])
    expect(await payOut(deps, settlement)).toMatchObject({ status: 'manual_paid' })
  })

  it('begins again when its progress cannot be read', async () => {
    const long = await aLong()
    const { deps, settlementId } = long
    await auditedNow(deps, { settlementId })
    await tamper(deps, verdictKey(settlementId), { progress: { sums: 'altered' } })

    expect(await pass(long)).toBe(3)
    expect(await stateOf(long)).toBe('audited')
  })

  it('confirms a difference of an earlier run only if the next pass finds it again', async () => {
    const long = await aLong()
    const { deps, firstKey, client } = long
    await tamper(deps, firstKey, { markup_minor: 101 })

    await pass(long)
    const { state, dueAt, progress } = (await readSettlementVerdict(deps, long.settlementId)) ?? {}
    expect([state, dueAt, progress]).toStrictEqual(['inconclusive', addMs(deps.now(), MINUTE_MS), undefined])
    expect(await standingOf(long)).toStrictEqual([])
    await pass(long)

    expect(await stateOf(long)).toBe('audited')
    expect(await standingOf(long)).toContain('entry.markup_minor')
    expect(deps.published).toMatchObject([{ kind: 'audit.imbalance', subject: client.clientId }])
  })

  it('drops a difference that the next pass does not find', async () => {
    const long = await aLong()
    const { deps, firstKey } = long
    await tamper(deps, firstKey, { markup_minor: 101 })
    await pass(long)
    await tamper(deps, firstKey, { markup_minor: 100 })

    await pass(long)

    expect(await stateOf(long)).toBe('audited')
    expect(await standingOf(long)).toStrictEqual([])
  })

  it('finds a difference once, although two runs read its entry', async () => {
    const long = await aLong()
    await tamper(long.deps, long.fourthKey, { external_reference: 'tampered' })

    await pass(long)
    await pass(long)

    expect((await standingOf(long)).filter((what) => what === 'entry')).toHaveLength(1)
  })

  it.for([
    ['one page, where that is its limit', 1, 2, 4],
    ['two minutes of pages', 100, 4, 2],
  ] as const)('reads %s in a run, and each page once', async ([, pages, entryCount, runs]) => {
    const { deps, settlementId } = await aLong(1, pages)
    let queries = 0
    const slow = interceptTable(deps, {
      before: (call) => {
        if (call.name !== 'query' || !String(call.query.partition[0]).startsWith('JOURNAL#')) return
        queries += 1
        deps.clock.advance(60)
      },
    })

    await auditedNow(slow, { settlementId })

    expect(await readSettlementVerdict(deps, settlementId)).toMatchObject({ progress: { sums: { entryCount } } })
    expect(await pass({ deps: slow, settlementId })).toBe(runs - 1)
    expect(queries).toBe(4)
  })

  it('is started again by its client’s audit, which keeps the last differences', async () => {
    const long = await aLong()
    const { deps, firstKey, client, settlementId } = long
    expect(await auditLedger(deps, client.clientId)).toStrictEqual({ balanced: 'inconclusive', differences: [] })
    await pass(long)
    await tamper(deps, firstKey, { markup_minor: 101 })
    aDayLater(deps)

    await auditLedger(deps, client.clientId)
    await pass(long)
    await pass(long)
    aDayLater(deps)
    const { balanced, differences } = await auditLedger(deps, client.clientId)

    expect(balanced).toBe(false)
    expect(differences.map(({ what }) => what)).toContain('entry.markup_minor')
    expect(await readSettlementVerdict(deps, settlementId)).toMatchObject({
      state: 'audited',
      dueAt: expect.any(String),
    })
    await auditClient(deps, client.clientId)
    expect(await standingOf(long)).toContain('entry.markup_minor')
  })

  it('keeps what it finds while the audit of its client runs', async () => {
    const long = await aLong(3, 100)
    const { deps, client, settlementId } = long
    await pass(long)
    const difference = { what: 'entry', id: settlementId, expected: 1, found: 2 }
    const found = new Map([[`settlement ${settlementId}`, [difference]]])
    const overtaken = beforeFirst(deps, 'put', () => noteFound(deps, client.clientId, found, undefined))

    await auditClient(overtaken, client.clientId)

    expect(await standingOf(long)).toStrictEqual(['entry'])
  })

  it('stores progress only with its own claim, and starts again only when no audit is due', async () => {
    const { deps, settlementId } = await aLong()
    const { dueAt } = (await readSettlementVerdict(deps, settlementId)) ?? {}
    const claimed = { settlementId, dueAt: addMs(deps.now(), 10 * MINUTE_MS) }

    const kept = await moveAudit(deps, claimed, { dueAt: deps.now(), progress: {} })
    const again = await deps.table.write(auditAgain(settlementId, deps.now()))
    const unknown = await deps.table.write(auditAgain(v.parse(SettlementIdSchema, deps.newId()), deps.now()))

    expect([kept, again.applied, unknown.applied]).toStrictEqual([false, false, false])
    expect(await deps.table.get(verdictKey(settlementId))).toMatchObject({ dueAt })
  })

  it('stores its result once', async () => {
    const long = await aLong()
    const { deps, settlementId } = long
    await pass(long)
    const result = { state: 'inconclusive' as const, auditedAt: deps.now(), dueAt: deps.now(), seen: [] }

    const again = await deps.table.write(noteAudited(settlementId, result))

    expect(again.applied).toBe(false)
    expect(await stateOf(long)).toBe('audited')
  })
})
