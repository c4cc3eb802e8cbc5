import { createHash } from 'node:crypto'
import * as v from 'valibot'

/** Where the chain of a subject's records ends. */
export const AuditHeadSchema = v.object({ number: v.number(), digest: v.string() })
export type AuditHead = v.InferOutput<typeof AuditHeadSchema>

/** A record as far as its digest covers it: everything it says, and the digest of those before it. */
type Chained = {
  readonly subject: string
  readonly operator: string
  readonly action: string
  readonly at: string
  readonly requestId?: string | undefined
  readonly before?: object | undefined
  readonly after?: object | undefined
  readonly number: number
  readonly previous?: string | undefined
}

/** Members in the order of their names: a table keeps none. */
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
 * What is wrong with a subject's chain, in words; undefined when it is whole. A record that was changed no longer has the
 * digest that the next one, or the head, names; one that is gone leaves a gap in the numbers.
 */
export const brokenLink = (records: readonly Chained[], head: AuditHead | undefined): string | undefined => {
  let digest: string | undefined
  for (const [at, record] of records.toSorted((a, b) => a.number - b.number).entries()) {
    if (record.number !== at + 1) return `record ${at + 1} is missing`
    if (record.previous !== digest) return `what was before record ${record.number} is not what it was`
    digest = digestOf(record)
  }
  const count = records.length
  if (head === undefined)
    return count === 0 ? undefined : `${count} records are there, and the item that counts them is not`
  if (head.number !== count) return `${count} of ${head.number} records are there`
  return head.digest === digest ? undefined : `record ${count} is not what it was`
}
