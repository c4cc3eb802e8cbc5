import { readTrail } from '../audit/judged/audit-trails.ts'
import { clientIn, endpointsIn, keysIn } from '../audit/judged/derive-client.ts'
import { rowDifferences } from '../audit/rows/row-differences.ts'
import { apiKeyRow } from '../client/api-key-store.ts'
import { type Client, ClientSchema } from '../client/client.ts'
import { toClientDto } from '../client/client-dto.ts'
import { registrationOf } from '../client/client-register.ts'
import { clientRow } from '../client/client-store.ts'
import { ifValid } from '../if-valid.ts'
import type { Entry } from '../journal/entry.ts'
import { findUnclaimedRow, rowDayOf } from '../journal/house-store.ts'
import {
  type AuditRecord,
  brokenLink,
  findAnyHead,
  headOf,
} from '../operator/audit-record-store.ts'
import { approvalFor, planAdjustment } from '../posting/adjust-ledger.ts'
import { type Adjustment, AdjustmentSchema } from '../posting/adjustment-store.ts'
import type { Item } from '../table/attributes.ts'
import {
  adjustmentKey,
  apiKeyKey,
  clientKey,
  deletedEndpointKey,
  entryKey,
  houseEntryKey,
} from '../table/keys.ts'
import { replaceRow } from '../table/replace-row.ts'
import { later, type Timestamp } from '../time.ts'
import { type Difference, missingRow } from '../verdict/difference.ts'
import { EndpointSchema } from '../webhook/endpoint/endpoint.ts'
import { toEndpointDto } from '../webhook/endpoint/endpoint-dto.ts'
import {
  endpointItems,
  endpointRow,
  removeEndpoint,
  restoreEndpoint,
} from '../webhook/endpoint/endpoint-store.ts'
import { elsewhere } from './find-differences.ts'
import { type Findings, type Plan, type RecountDeps, type Write, writesOf } from './plan.ts'
import { unapproved } from './unapproved.ts'

/**
 * Plans the client, its keys and its endpoints as their last records say. The lost record of a
 * deleted endpoint is written anew.
 */
export async function planTrail(deps: RecountDeps, findings: Findings): Promise<Plan> {
  const endpoints = await planEndpoints(deps, findings)
  const lost = writesOf(endpoints).flatMap(({ record }, at) => lostRecord(findings, record, at))
  const records = [...findings.books.clientRecords, ...lost]
  return [
    ...(await planClientRow(deps, findings, records)),
    ...(await planKeys(deps, findings, records)),
    ...endpoints,
  ]
}

/** As it will be in the chain, for what the records say afterwards. */
function lostRecord({ books }: Findings, record: Write['record'], at: number) {
  const number = books.clientRecords.length + 1 + at
  const { clientId: subject, client } = books
  if (record === undefined) return []
  const after = { ...record.after }
  return [{ ...record, after, subject, number, operator: '', at: client.createdAt }]
}

async function planClientRow(
  deps: RecountDeps,
  findings: Findings,
  records: readonly AuditRecord[],
) {
  const {
    books: { clientId, clientRecords },
    differences,
  } = findings
  const said = clientIn(records)
  const row = await deps.table.get(clientKey(clientId))
  const writes: Write[] = []
  const ofRow = differences.filter(
    ({ what, expected }) => /^client(\.|$)/.test(what) && expected !== IN_REGISTER,
  )
  if (said && (ofRow.length > 0 || records.length > clientRecords.length)) {
    const lines = rowDifferences('client', clientId, clientRow(said), row)
    const client = replaceRow(clientKey(clientId), clientRow(said), row, ClientSchema.entries)
    if (lines.length > 0)
      writes.push({ ...ownWrite(findings), lines, ends: ofRow, steps: { client } })
  }
  const stored = ifValid(ClientSchema, row)
  const unsaid = differences.filter(({ expected }) => expected === 'a record of its creation')
  if (said === undefined && stored && unsaid.length > 0) {
    const record = { action: 'create-client', after: toClientDto(stored) }
    writes.push({ ...ownWrite(findings), lines: unsaid, ends: unsaid, record, steps: {} })
  }
  const unregistered = differences.filter(
    ({ what, expected }) => what === 'client' && expected === IN_REGISTER,
  )
  const client = said ?? stored
  if (client && unregistered.length > 0) writes.push(registration(client, unregistered))
  return writes
}

function ownWrite({ books: { clientId } }: Findings) {
  return { subject: clientId, clientId, repair: 'trail' } as const
}

const IN_REGISTER = 'in the register'

export function registration(client: Client, ends: readonly Difference[]): Write {
  const { subject, clientId, ...record } = registrationOf(client, '')
  return { subject, clientId, repair: 'trail', lines: ends, ends, record, steps: {} }
}

async function planKeys(deps: RecountDeps, findings: Findings, records: readonly AuditRecord[]) {
  const writes = await Array.fromAsync(keysIn(records), async (key): Promise<readonly Write[]> => {
    const ends = findings.differences.filter(
      ({ what, id }) => /^api_key(\.|$)/.test(what) && id === key.keyId,
    )
    if (ends.length === 0) return []
    const row = apiKeyRow(key)
    const item = await deps.table.get(apiKeyKey(key.keyId))
    const lines = rowDifferences('api_key', key.keyId, row, item)
    const steps = { key: replaceRow(apiKeyKey(key.keyId), row, item) }
    return [{ ...ownWrite(findings), lines, ends, steps }]
  })
  return writes.flat()
}

/** A lost endpoint is not put: nothing else has its secret. Its merchant registers it again. */
async function planEndpoints(deps: RecountDeps, findings: Findings) {
  const plans = endpointsIn(findings.books.clientRecords).map(async (said): Promise<Plan> => {
    const ends = findings.differences.filter(
      ({ what, id }) => /^(deleted_)?endpoint(\.|$)/.test(what) && id === said.endpointId,
    )
    if (ends.length === 0) return []
    const write = { ...ownWrite(findings), lines: ends, ends }
    const [live, gone] = await endpointItems(deps, said)
    if (live && said.deletedAt === undefined) {
      const endpoint = restoreEndpoint(said, live)
      const steps = { endpoint, gone: gone && removeEndpoint(said, true) }
      return [{ ...write, steps }]
    }
    const end = said.deletedAt === undefined ? ifValid(EndpointSchema, gone) : said
    if (end === undefined) return []
    const steps = {
      endpoint: live && removeEndpoint(said, false),
      gone: replaceRow(deletedEndpointKey(said), endpointRow(end), gone),
    }
    const after = { ...toEndpointDto(end), deleted_at: end.deletedAt }
    const record = end === said ? undefined : { action: 'delete-endpoint', after }
    return [{ ...write, record, steps }]
  })
  return (await Promise.all(plans)).flat()
}

/** Plans adjustments: each of record, row and entry shows one. A lost record is written anew. */
export async function planAdjustments(deps: RecountDeps, findings: Findings): Promise<Plan> {
  const { books, differences, strayEntries } = findings
  const references = new Set(
    differences.flatMap(({ what, id, expected }) => {
      if (/^adjustment(\.|$)/.test(what)) return [id]
      const entry = strayEntries.find(({ entryId }) => what === 'entry' && entryId === id)
      return entry?.adjustmentReference ?? OF_ADJUSTMENT.exec(String(expected))?.slice(1) ?? []
    }),
  )
  const plans = await Array.fromAsync(references, async (reference) => {
    const row = await deps.table.get(adjustmentKey(books.clientId, reference))
    const entry = strayEntries.find((one) => one.adjustmentReference === reference)
    const recorded = books.adjustments.find((one) => one.reference === reference)
    const adjustment = recorded ?? ifValid(AdjustmentSchema, row) ?? adjustmentOf(findings, entry)
    return adjustment
      ? planAdjustmentAnew(deps, findings, adjustment, { row, isRecorded: recorded !== undefined })
      : []
  })
  return plans.flat()
}

const OF_ADJUSTMENT = /^that of adjustment (.*)$/

/** Its notes are lost. */
function adjustmentOf({ books: { clientId } }: Findings, entry: Entry | undefined) {
  const { type: kind, netMinor: amountMinor, adjustmentReference: reference } = entry ?? {}
  return ifValid(AdjustmentSchema, { ...entry, clientId, kind, amountMinor, reference })
}

async function planAdjustmentAnew(
  deps: RecountDeps,
  findings: Findings,
  { entryId, eligibleAt, ...input }: Adjustment,
  { row, isRecorded }: { readonly row: Item | undefined; readonly isRecorded: boolean },
) {
  const { books, differences } = findings
  const { clientId, reference, providerTransactionId } = input
  if (books.ledger === undefined) return []
  const houseRow = await findUnclaimedRow(deps, providerTransactionId)
  // Without the row that it took over, the other side of the entry is unknown.
  if (providerTransactionId !== undefined && houseRow === undefined) return []
  const [entry, house] = await Promise.all([
    deps.table.get(entryKey(clientId, { eligibleAt, entryId })),
    houseRow &&
      deps.table.get(houseEntryKey(rowDayOf(houseRow), houseRow.transactionId, 'correction')),
  ])
  const { window } = books.ledger
  const plannedAt = (postedAt: Timestamp) =>
    planAdjustment(
      { ...input, operator: '' },
      { row: houseRow, window, approval: undefined, postedAt },
    )
  const {
    adjusted,
    record,
    steps: { adjustment, entry: ownEntry },
  } = plannedAt(eligibleAt)
  // The journal and the house's day may be closed at that time by now.
  const { steps: openSteps } = plannedAt(later(deps.now(), window.closedUntil))
  const steps = { ...openSteps, adjustment, entry: ownEntry }
  const isCounted = entry === undefined && eligibleAt >= books.unsettled.span.start
  const kept = [
    ...(row ? ['adjustment'] : []),
    ...(entry ? ['entry'] : []),
    ...(house ? ['houseEntry', 'houseTotal', 'notBookedBack'] : []),
    ...(isCounted ? [] : ['ledger', 'window']),
  ]
  const lines = [
    ...(row ? [] : missingRow('adjustment', reference)),
    ...(entry ? [] : missingRow('entry', entryId)),
    ...(houseRow && !house ? missingRow('house_entry', reference) : []),
    ...(isRecorded ? [] : missingRow('audit_record', reference)),
  ]
  const write: Write = {
    ...ownWrite(findings),
    lines,
    ends: differences.filter(
      ({ what, id }) =>
        (what === 'adjustment' && id === reference) || (what === 'entry' && id === entryId),
    ),
    record: isRecorded ? undefined : record,
    entries: entry ? [] : [adjusted.entry],
    steps: Object.fromEntries(Object.entries(steps).filter(([name]) => !kept.includes(name))),
  }
  if (lines.length === 0) return []
  const approvable = approvalFor(input, houseRow)
  const left = [
    ...(approvable ? await unapproved(deps, reference, approvable, eligibleAt) : []),
    ...(await elsewhere(deps, findings, reference, books.client, entry ? [] : [entryId])),
  ]
  return left.length === 0 ? [write] : left
}

/**
 * Ends torn chains. A head that shows less than its records follows them. If it shows one record
 * more, a record that the plan writes anew takes that place. `owner`: of the records of a subject.
 */
export async function withChains(
  deps: RecountDeps,
  plan: Plan,
  differences: readonly Difference[],
  owner: string | undefined,
): Promise<Plan> {
  const chained = [...plan]
  for (const difference of differences) {
    const { what, id: subject, expected } = difference
    if (what !== 'audit_record' || expected !== 'a complete chain') continue
    const { records, listedFor } = await readTrail(deps, subject, owner)
    const shown = headOf(records)
    const { head } = await findAnyHead(deps, subject)
    const missing = (head?.number ?? 0) - records.length
    if (missing > 1 || brokenLink(records, shown) !== undefined) continue
    const write = writesOf(chained).find((one) => one.subject === subject && one.record)
    if (write) {
      // Before other records of the subject, which would take its place.
      chained.splice(chained.indexOf(write), 1)
      chained.unshift({ ...write, ends: [...write.ends, difference] })
    } else if (missing < 0) {
      chained.push({
        subject,
        clientId: listedFor ?? owner,
        repair: 'figures',
        lines: [difference],
        ends: [difference],
        steps: {},
      })
    }
  }
  return chained
}
