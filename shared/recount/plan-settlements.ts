import { readingInto, settlementAgainOf } from '../audit/judged/audit-entries.ts'
import { isAboutSums, readWitnesses } from '../audit/judged/audit-settlement.ts'
import { type StoredSettlement } from '../audit/judged/client-books.ts'
import { recordedState } from '../audit/judged/derive-settlement.ts'
import { rowDifferences } from '../audit/rows/row-differences.ts'
import { listEventsOf } from '../event/read-events.ts'
import { subjectOfSettlement } from '../ids.ts'
import type { Entry } from '../journal/entry.ts'
import { putEntry } from '../journal/entry-store.ts'
import { type AuditRecord, readAuditRecords } from '../operator/audit-record-store.ts'
import { liveBatchOf } from '../settlement/batch/batch-store.ts'
import { statusRecord } from '../settlement/close-settlement.ts'
import { entryAgainOf } from '../settlement/return-payout.ts'
import { hasSwept, type Settlement } from '../settlement/settlement.ts'
import { bankReferenceRow, mayChangeSums, settlementRow } from '../settlement/settlement-store.ts'
import { sweptSpan } from '../settlement/statement/settlement-entries.ts'
import { addBlock, type EntrySums, emptySums, sumPages } from '../settlement/sum-entries.ts'
import { bankReferenceKey, settlementKey } from '../table/keys.ts'
import { replaceRow } from '../table/replace-row.ts'
import { type Difference, missingRow } from '../verdict/difference.ts'
import { elsewhere } from './find-differences.ts'
import type { Findings, LostRecord, Plan, RecountDeps, Write } from './plan.ts'
import { endIn, isOfEvents, planSettlementEvents } from './plan-events.ts'
import { unapprovedAgain } from './unapproved.ts'

/** A settlement after the plan. `sums`: those of its entries, if they are to be written. */
export type PlannedSettlement = {
  readonly before: Settlement
  readonly after: Settlement
  readonly sums: EntrySums | undefined
  /** Its re-credit, or the entry of its return, that this plan puts for the next settlement. */
  readonly newEntry: Entry | undefined
}

/**
 * Plans the settlements that differ. A settlement that its row, its records, its re-credit or the
 * window shows paid, failed or re-credited stays so, and gets what it lacks. The sums of one that
 * is still in the window are those of its entries.
 */
export async function planSettlements(
  deps: RecountDeps,
  findings: Findings,
  { plannedEntries, ...seen }: Seen & { readonly plannedEntries: readonly Entry[] },
) {
  const paidIds = paidByWindow(findings)
  const newEntries = [...plannedEntries]
  const planned = await Array.fromAsync(
    findings.books.settlements,
    async (row): Promise<Settled> => {
      const { settlement: before } = row
      const { settlementId: id } = before
      const own = findings.differences.filter((one) => isAbout(one, row, findings.strayEntries))
      const unchanged = { before, after: before, sums: undefined, newEntry: undefined }
      const isPaidByWindow = paidIds?.includes(id) ?? false
      if (own.length === 0 && !isPaidByWindow) return { settlement: unchanged, plan: [] }
      const { records } = await readAuditRecords(deps, id)
      const found = await listEventsOf(deps, subjectOfSettlement(id))
      const events = found.flatMap((event) => event ?? [])
      const shown = { records, told: endIn(events), isPaidByWindow }
      const after = settlementAfter(findings, row, shown)
      const { writes, newEntry } = await planTrail(deps, row, after, { own, records })
      const newIds = newEntry ? [newEntry.entryId] : []
      const refused = [
        ...(writes.length > 0 ? await unapprovedAgain(deps, after) : []),
        ...(await elsewhere(deps, seen, id, after, newIds)),
      ]
      if (refused.length > 0) return { settlement: unchanged, plan: refused }
      if (newEntry) newEntries.push(newEntry)
      const ofEvents = await planSettlementEvents(
        deps,
        findings.books,
        { before, after },
        { own, events },
      )
      const ended = new Set(writes.flatMap(({ ends }) => ends))
      const others = own.filter(
        (one) => !ended.has(one) && !isAboutSums(one) && !isOfEvents(one, id),
      )
      const isChanging = newEntries.some(({ eligibleAt }) => hasSwept(after, eligibleAt))
      const isWrong = own.some(isAboutSums) && others.length === 0 && !isChanging
      // The file that the bank has must stay what the books say.
      const live = isWrong ? (await liveBatchOf(deps, after))?.number : undefined
      const isSet = isWrong && mayChangeSums(after) && live === undefined
      const sums = isSet ? await sumsOf(deps, after, seen) : undefined
      const why =
        typeof sums === 'string'
          ? sums
          : live && `it is in payout batch ${live}: cancel the batch, or wait for the bank's answer`
      const ends = own.filter(isAboutSums)
      const leftPlan: Plan = why ? [{ id, why, ends }] : isChanging ? [{ ends }] : []
      const isUnsettled = newEntry && newEntry.eligibleAt >= findings.books.unsettled.span.start
      const isSummed = typeof sums === 'object' && sums.netMinor > 0
      return {
        settlement: {
          before,
          after,
          sums: isSummed ? sums : undefined,
          newEntry: isUnsettled ? newEntry : undefined,
        },
        plan: [...writes, ...ofEvents, ...leftPlan],
      }
    },
  )
  return {
    plan: planned.flatMap(({ plan }) => plan),
    settlements: planned.map(({ settlement }) => settlement),
    isUnclear: paidIds === undefined,
  }
}

type Settled = { readonly settlement: PlannedSettlement; readonly plan: Plan }

type Seen = {
  /** Every payment that may have lost an entry is read and planned. */
  readonly isWhole: boolean
  readonly isOver: () => boolean
}

function isAbout(
  difference: Difference,
  { settlement }: StoredSettlement,
  entries: readonly Entry[],
) {
  const { id } = difference
  const { settlementId } = settlement
  const isStray = entries.some(
    (one) => one.entryId === id && settlementAgainOf(one) === settlementId,
  )
  const isOwn = id === settlementId || id === entryAgainOf(settlement)?.entryId
  return (
    isOwn || isStray || (difference.what === 'delivery' && isOfEvents(difference, settlementId))
  )
}

/**
 * The one or two recorded settlements whose payouts the window shows. Undefined if it shows a
 * payout that may be of several of them, or of none.
 */
function paidByWindow({ books, differences }: Findings): readonly string[] | undefined {
  const gapOf = (what: string) => {
    const one = differences.find((difference) => difference.what === `window.${what}`)
    return Number(one?.found ?? 0) - Number(one?.expected ?? 0)
  }
  const paidMinor = gapOf('paid_out_minor')
  if (paidMinor <= 0 || gapOf('in_settlement_minor') !== -paidMinor) return []
  const recorded = books.settlements
    .map(({ settlement }) => settlement)
    .filter(({ status }) => status === 'recorded')
  const groups = recorded.flatMap((one, at) => [
    [one],
    ...recorded.slice(at + 1).map((other) => [one, other]),
  ])
  const [paid, ...others] = groups.filter(
    (group) => group.reduce((sum, { netMinor }) => sum + netMinor, 0) === paidMinor,
  )
  return others.length === 0 ? paid?.map(({ settlementId }) => settlementId) : undefined
}

type Shown = {
  readonly records: readonly AuditRecord[]
  /** By its event. */
  readonly told: Partial<Settlement> | undefined
  readonly isPaidByWindow: boolean
}

/** Whichever shows more is kept: nothing that an operator did is taken back. */
function settlementAfter(
  { books, strayEntries }: Findings,
  { settlement }: StoredSettlement,
  { records, told, isPaidByWindow }: Shown,
): Settlement {
  const { settlementId: id } = settlement
  const said = recordedState(records)
  const stray = strayEntries.find((entry) => settlementAgainOf(entry) === id)
  const strayAt = (type: Entry['type']) => (stray?.type === type ? stray.eligibleAt : undefined)
  const recreditedAt = settlement.recreditedAt ?? said.recreditedAt ?? strayAt('recredit')
  const returnedAt = settlement.returnedAt ?? said.returnedAt ?? strayAt('returned')
  const paid = { status: 'manual_paid', settledAt: books.ledger?.window.changedAt } as const
  const shown =
    settlement.status !== 'recorded'
      ? {}
      : said.status !== 'recorded'
        ? said
        : (told ??
          (isPaidByWindow || returnedAt ? paid : recreditedAt && ({ status: 'failed' } as const)))
  const isManual = settlement.triggeredBy === 'manual' || said.triggeredBy === 'manual'
  // A later claim shows more than the last record that is left.
  const batch = Math.max(said.batch ?? 0, settlement.batch ?? 0) || undefined
  const triggeredBy = isManual ? 'manual' : 'auto'
  return { ...settlement, ...shown, batch, recreditedAt, returnedAt, triggeredBy }
}

async function planTrail(
  deps: RecountDeps,
  { item }: StoredSettlement,
  after: Settlement,
  {
    own,
    records: known,
  }: { readonly own: readonly Difference[]; readonly records: readonly AuditRecord[] },
) {
  const { settlementId: id, clientId, bankReference } = after
  const { entry, entryItem, reference } = await readWitnesses(deps, after)
  const newEntry = entryItem === undefined ? entry : undefined
  const needsReference = bankReference !== undefined && reference === undefined
  const row = settlementRow(after)
  const lines = [
    ...rowDifferences('settlement', id, row, item).filter((line) => !isAboutSums(line)),
    ...(needsReference ? missingRow('bank_reference', id) : []),
    ...(newEntry ? missingRow('entry', newEntry.entryId) : []),
  ]
  const changed = new Set(lines.map(({ what }) => what))
  const lost = lostRecords(after, known)
  const isEnded = ({ what }: Difference) =>
    changed.has(what) ||
    (what.startsWith('entry') && entry !== undefined) ||
    (lost.length > 0 && (what === 'audit_record' || STATE.test(what)))
  const steps = {
    settlement: replaceRow(settlementKey(id), row, item),
    reference: needsReference
      ? replaceRow(bankReferenceKey(bankReference), bankReferenceRow(id), undefined)
      : undefined,
    entry: newEntry && putEntry(clientId, newEntry),
  }
  const first = {
    subject: id,
    clientId,
    repair: 'trail',
    lines,
    ends: own.filter(isEnded),
    steps,
  } as const
  const records = lost.length === 0 && lines.length > 0 ? [undefined] : lost
  const writes = records.map((record, at): Write => {
    return { ...first, ...(at > 0 && { lines: [], ends: [], steps: {} }), record }
  })
  return { writes, newEntry }
}

/** With the due work of a recorded settlement. */
const STATE =
  /^settlement\.(status|triggered_by|notes|batch|bank_reference|settled_at|recredited_at|returned_at|work|slot|due_at)$/

/** The records of what operators did with the settlement, if they are lost. */
function lostRecords(after: Settlement, records: readonly AuditRecord[]): readonly LostRecord[] {
  const { status, notes = null, netMinor: net_minor, clientId: client_id } = after
  const shown = statusRecord(after)
  const closed = { ...shown, recredited_at: null, notes }
  const done = [
    [
      'trigger-settlement',
      after.triggeredBy === 'manual',
      { status: 'recorded', net_minor, client_id },
    ],
    [
      'mark-settlement-paid',
      status === 'manual_paid',
      { ...closed, bank_reference: after.bankReference ?? null },
    ],
    ['mark-settlement-failed', status === 'failed', closed],
    ['payout-file', after.batch !== undefined, { batch: after.batch ?? null }],
    ['recredit-settlement', after.recreditedAt !== undefined, { ...shown, notes: null }],
    ['return-payout', after.returnedAt !== undefined, { returned_at: after.returnedAt ?? null }],
  ] as const
  return done.flatMap(([action, isDone, said]) =>
    isDone && !records.some((record) => isRecordOf(record, action, after))
      ? [{ action, after: said }]
      : [],
  )
}

/** A settlement may be in several batches, one after the other: each claim has its record. */
function isRecordOf(record: AuditRecord, action: string, { batch }: Settlement) {
  const { action: recorded, after } = record
  return recorded === action && (action !== 'payout-file' || after?.['batch'] === batch)
}

/** A text says why they are not written now. */
async function sumsOf(
  deps: RecountDeps,
  settlement: Settlement,
  { isWhole: isAllRead, isOver }: Seen,
): Promise<EntrySums | string> {
  const { clientId, settlementId } = settlement
  const span = sweptSpan(settlement)
  const start = { sums: emptySums(settlementId), remaining: [] }
  const window = { clientId, span, ...readingInto([]) }
  const { sums, remaining, isWhole } = await sumPages(deps, window, start, isOver)
  if (!isWhole) return UNSUMMED
  const summed = addBlock(sums, remaining, span.start)
  const { entryCount, digest, netMinor } = settlement
  const isSameCount = summed.entryCount === entryCount
  if (isSameCount && summed.digest !== digest && summed.netMinor !== netMinor) return ALTERED
  return isAllRead || summed.entryCount > entryCount ? summed : UNREAD
}

const UNSUMMED = 'its entries are too many for one run; run recount-ledger again'
const ALTERED = 'its entries are as many as before with another net: one is altered'
const UNREAD =
  'a payment that is left, or that this call has not read, may have lost an entry of it'
