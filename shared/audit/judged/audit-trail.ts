import { chunks } from '../../chunks.ts'
import type { StoreDeps, TableDeps } from '../../deps.ts'
import type { ClientId } from '../../ids.ts'
import { brokenLink } from '../../operator/audit-chain.ts'
import {
  AUDIT_RECORD_ENTITY,
  type AuditRecord,
  findAuditHead,
  readAuditRecords,
} from '../../operator/audit-record-store.ts'
import { foundKey, idOf } from '../../table/keys.ts'
import { queryPages } from '../../table/list-items.ts'
import { addMs, DAY_MS } from '../../time.ts'
import { type Difference, differs, when } from '../../verdict/difference.ts'

export type Trail = { readonly records: readonly AuditRecord[]; readonly differences: readonly Difference[] }

/** A record may be added between two reads. */
const LOOKS = 3

/** The audit records of one subject, and whether all of them are there as they were written. */
export const readTrail = async (deps: TableDeps, subject: string): Promise<Trail> => {
  let trail = await readOnce(deps, subject)
  for (let look = 1; look < LOOKS && trail.differences.length > 0; look++) {
    const head = await findAuditHead(deps, subject)
    if (head?.number === trail.head?.number) break
    trail = await readOnce(deps, subject)
  }
  return trail
}

const readOnce = async (deps: TableDeps, subject: string) => {
  const [{ records, unreadable }, head] = await Promise.all([
    readAuditRecords(deps, subject),
    findAuditHead(deps, subject),
  ])
  const broken = unreadable > 0 ? `${unreadable} unreadable` : brokenLink(records, head)
  return {
    head,
    records,
    differences: when(broken !== undefined, differs('audit_record', subject, 'a whole chain', broken)),
  }
}

/** How far back an audit reads changes, unless it reads everything. */
const LATELY_MS = 3 * DAY_MS
const PAGE = 1_000
const SIDE_BY_SIDE = 20

/**
 * The record chains of a client's subjects that changed lately, or ever; the index lists the subjects. Every audit
 * checks settlements and the client itself anyway, so they are not included.
 */
export const auditTrails = async (
  deps: StoreDeps,
  clientId: ClientId,
  { full, known }: { readonly full: boolean; readonly known: ReadonlySet<string> },
): Promise<readonly Difference[]> => {
  const subjects = new Set<string>()
  const now = deps.now()
  const range = { between: [addMs(now, -LATELY_MS), addMs(now, DAY_MS)] } as const
  const list = { index: 'by-owner', partition: [clientId, AUDIT_RECORD_ENTITY], limit: PAGE } as const
  for await (const page of queryPages(deps, full ? list : { ...list, range })) {
    for (const item of page) subjects.add(idOf(foundKey('AUDIT', item).pk))
  }
  const differences: Difference[] = []
  for (const some of chunks(
    [...subjects].filter((subject) => !known.has(subject)),
    SIDE_BY_SIDE,
  )) {
    const trails = await Promise.all(some.map((subject) => readTrail(deps, subject)))
    differences.push(...trails.flatMap((trail) => trail.differences))
  }
  return differences
}
