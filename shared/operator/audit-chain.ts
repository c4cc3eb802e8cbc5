import { createHash } from 'node:crypto'
import * as v from 'valibot'
import type { AuditRecord } from './audit-record-store.ts'

/** The end of a subject's chain: the number and digest of its last record. */
export const AuditHeadSchema = v.object({ number: v.number(), digest: v.string() })
export type AuditHead = v.InferOutput<typeof AuditHeadSchema>

/** The fields of a record that its digest covers: its content, and the digest of the record before it. */
type Chained = Omit<AuditRecord, 'at'> & { readonly at: string }

/** Sorts object members by name, because the table keeps no order. */
const ordered = (_: string, value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)))
    : value

export const digestOf = (record: Chained): string => {
  const { subject, operator, action, at, requestId, before, after, number, previous } = record
  return createHash('sha256')
    .update(JSON.stringify({ subject, operator, action, at, requestId, before, after, number, previous }, ordered))
    .digest('hex')
}

/**
 * Describes the first break of a subject's chain; undefined if the chain is intact. A changed record no longer has the
 * digest that the next record or the head names. A removed record leaves a gap in the numbers.
 */
export const brokenLink = (records: readonly Chained[], head: AuditHead | undefined): string | undefined => {
  let digest: string | undefined
  for (const [at, record] of records.toSorted((a, b) => a.number - b.number).entries()) {
    if (record.number !== at + 1) return `record ${at + 1} is missing`
    if (record.previous !== digest) return `the record before record ${record.number} was changed`
    digest = digestOf(record)
  }
  const count = records.length
  if (head === undefined) return count === 0 ? undefined : `${count} records exist, but the chain's head is missing`
  if (head.number !== count) return `${count} of ${head.number} records exist`
  return head.digest === digest ? undefined : `record ${count} was changed`
}
