import { mapInChunks } from '../../chunks.ts'
import type { StoreDeps, TableDeps } from '../../deps.ts'
import type { ClientId } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { approvalSubject } from '../../operator/approval-store.ts'
import {
  AUDIT_RECORD_ENTITY,
  AuditHeadSchema,
  type AuditRecord,
  AuditRecordSchema,
  auditRecordRow,
  brokenLink,
  readAuditRecords,
} from '../../operator/audit-record-store.ts'
import { auditHeadKey, idOf, rowKeysOf } from '../../table/keys.ts'
import { queryPages } from '../../table/list-items.ts'
import { addMs, DAY_MS } from '../../time.ts'
import { acceptedSubject, findAccepted } from '../../verdict/acceptances.ts'
import { compare, onlyIf, toValue } from '../../verdict/difference.ts'
import { rowDifferences } from '../rows/row-differences.ts'
import { auditAccess } from './audit-access.ts'
import { auditApproval, ownerOfApproval, usedIn } from './audit-approval.ts'

/** An audit that is not full reads the changes of this time. */
const LATELY_MS = 3 * DAY_MS
const RECORDS_READ = 1_000
const SIDE_BY_SIDE = 20

/**
 * Checks keys and endpoints, and the chains of the recently changed subjects, or of all.
 * `readClientBooks` checks the client's own records.
 */
export async function auditTrails(
  deps: StoreDeps,
  clientId: ClientId,
  extent: { readonly full: boolean },
) {
  const { records } = await readAuditRecords(deps, clientId)
  return [
    ...(await auditAccess(deps, clientId, records)),
    ...(await auditSubjects(deps, clientId, { ...extent, records })),
  ]
}

/**
 * The chains of subjects in the list of a client, or of the gateway, of its acceptances, and of the
 * approvals that these and `records` have used.
 */
export async function auditSubjects(
  deps: StoreDeps,
  owner: string,
  {
    full,
    records: ownRecords = [],
  }: { readonly full: boolean; readonly records?: readonly AuditRecord[] },
) {
  const now = deps.now()
  const range = { between: [addMs(now, -LATELY_MS), addMs(now, DAY_MS)] } as const
  const list = {
    index: 'by-owner',
    partition: [owner, AUDIT_RECORD_ENTITY],
    limit: RECORDS_READ,
  } as const
  const subjects = new Set<string>()
  for await (const { items: rows } of queryPages(deps, full ? list : { ...list, range })) {
    for (const { pk } of rowKeysOf('AUDIT', rows)) subjects.add(idOf(pk))
  }
  subjects.delete(owner)
  // A payout believes them, so they are judged whether the list has them or not.
  subjects.add(acceptedSubject(owner))
  const judge = async (subject: string) => {
    const { records, differences } = await readTrail(deps, subject, owner)
    return {
      records,
      differences: [
        ...differences,
        ...(await auditApproval(deps, subject, records)),
        ...(subject === acceptedSubject(owner) ? await auditAccepted(deps, owner, records) : []),
      ],
    }
  }
  const listed = await mapInChunks([...subjects], SIDE_BY_SIDE, judge)
  const used = [ownRecords, ...listed.map(({ records }) => records)].flat().flatMap((record) => {
    const { id } = usedIn(record) ?? {}
    return id === undefined ? [] : [approvalSubject(id)]
  })
  const unlisted = [...new Set(used).difference(subjects)]
  const judged = [...listed, ...(await mapInChunks(unlisted, SIDE_BY_SIDE, judge))]
  return judged.flatMap(({ differences }) => differences)
}

async function auditAccepted(deps: TableDeps, owner: string, records: readonly AuditRecord[]) {
  const approved = await mapInChunks(records, SIDE_BY_SIDE, (record) =>
    findAccepted(deps, owner, record),
  )
  const found = `${approved.filter((one) => one === undefined).length} without approval`
  return onlyIf(
    approved.includes(undefined),
    compare('audit_record', acceptedSubject(owner), 'an approval of each acceptance', found),
  )
}

/**
 * Answers a difference too if a record is missing, changed, unreadable or listed elsewhere.
 * `listedFor`: in whose list its records are.
 */
export async function readTrail(deps: TableDeps, subject: string, owner: string | undefined) {
  const [{ items, records, unreadableIds }, headItem] = await Promise.all([
    readAuditRecords(deps, subject),
    deps.table.get(auditHeadKey(subject)),
  ])
  const head = ifValid(AuditHeadSchema, headItem)
  // A record that is added between the two reads is a difference only in the first check.
  const broken = brokenLink(records, head) ?? []
  const { length: unreadable } = unreadableIds
  const problems = [unreadable > 0 ? `${unreadable} unreadable` : [], broken].flat()
  const clientId = ownerOfApproval(records) ?? owner
  const differences = [
    ...onlyIf(
      problems.length > 0,
      compare('audit_record', subject, 'a complete chain', toValue(problems.join('; '))),
    ),
    ...items.flatMap((item) => {
      const record = ifValid(AuditRecordSchema, item)
      const id = String(item['sk']).split('#').slice(1).join('#')
      const made = record && auditRecordRow(record, { clientId, id })
      return made ? rowDifferences('audit_record', subject, made, item) : []
    }),
    ...(head ? rowDifferences('audit_head', subject, head, headItem) : []),
  ]
  const listedFor = items.map(({ owner: name }) => name).find((name) => typeof name === 'string')
  return { records, differences, listedFor }
}
