import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { GatewayError } from '../errors.ts'
import type { ClientId } from '../ids.ts'
import type { Item } from '../table/attributes.ts'
import { isNew, unchanged } from '../table/condition.ts'
import { auditHeadKey, auditRecordKey, auditRecordPk } from '../table/keys.ts'
import { queryPages } from '../table/query-pages.ts'
import { put } from '../table/step.ts'
import { StaleSteps, type Steps, type TransactOutcome } from '../table/table.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'
import { type AuditHead, AuditHeadSchema, digestOf } from './audit-chain.ts'

export const AuditRecordSchema = v.object({
  /** Id of what was changed; its records are one partition, oldest first. */
  subject: v.string(),
  operator: v.string(),
  /** Name of the operator action, as in the manifest. */
  action: v.string(),
  at: TimestampSchema,
  /** Of the operator's invocation. */
  requestId: v.optional(v.string()),
  before: v.optional(v.record(v.string(), v.unknown())),
  after: v.optional(v.record(v.string(), v.unknown())),
  /** Its place among the subject's records, from 1. */
  number: v.number(),
  /** The digest of all before it; absent of the first. */
  previous: v.optional(v.string()),
})
export type AuditRecord = v.InferOutput<typeof AuditRecordSchema>

export const AUDIT_RECORD_ENTITY = 'audit'

export type RecordDeps = Pick<Deps, 'table' | 'now' | 'newId' | 'invocation'>

type NewRecord = Pick<AuditRecord, 'subject' | 'operator' | 'action'> & {
  /** Whose it is, for the list of all that was done to a client; undefined of what belongs to none. */
  readonly clientId: ClientId | string | undefined
  /** Of the invocation in whose name this one goes on, where it is not this one. */
  readonly requestId?: string | undefined
  /** Plain JSON of what changed, in wire names. Never a key, a secret or a body. */
  readonly before?: object
  readonly after?: object
}

const TRIES = 5

/**
 * An operator's change with its audit record (design section 7), all in one transaction: there is no change without its
 * record and no record of a change that was refused. The records of a subject are a chain: each names the digest of
 * those before it, and the head of the chain, which moves in the same transaction, that of all. So of two operators at
 * the same subject one begins again behind the other; those at different subjects are never in each other's way.
 * Steps that say a time are not written behind `freshUntil`: StaleSteps.
 */
export const recordChange = async <Name extends string>(
  deps: RecordDeps,
  record: NewRecord,
  steps: Steps<Name>,
  options?: { readonly freshUntil: Timestamp },
): Promise<TransactOutcome<Name>> => {
  for (let tried = 0; tried < TRIES; tried++) {
    const chained = await chainedSteps(deps, record)
    if (options && deps.now() > options.freshUntil) throw new StaleSteps('a change took longer than its times hold')
    const all = { ...steps, ...chained.steps }
    const outcome = await deps.table.transact<Name | keyof typeof chained.steps>(all, options)
    if (outcome.applied) {
      deps.invocation?.recorded({ operator: record.operator, at: chained.at })
      return outcome
    }
    const { refusedBy } = outcome
    if (refusedBy !== 'auditHead' && refusedBy !== 'auditRecord') return { ...outcome, refusedBy }
  }
  throw new GatewayError('conflict', 'others are changing this right now; try again')
}

const chainedSteps = async (deps: RecordDeps, { clientId, ...record }: NewRecord) => {
  const before = await findAuditHead(deps, record.subject)
  const at = deps.now()
  const id = deps.newId()
  const number = (before?.number ?? 0) + 1
  const written: AuditRecord = {
    ...v.parse(AuditRecordSchema, JSON.parse(JSON.stringify({ ...record, at, number }))),
    requestId: record.requestId ?? deps.invocation?.requestId,
    previous: before?.digest,
  }
  const head: AuditHead = { number, digest: digestOf(written) }
  const listed = clientId === undefined ? {} : { owner: clientId, entity: AUDIT_RECORD_ENTITY, listedAt: at, id }
  const stood = before ? unchanged('digest', before.digest) : isNew
  const steps = {
    auditRecord: put(auditRecordKey(record.subject, at, id), { ...written, ...listed }, isNew),
    auditHead: put(auditHeadKey(record.subject), head, stood),
  }
  return { steps, at }
}

/** What the chain of a subject must end with; undefined where none was begun. */
export const findAuditHead = async (deps: Pick<Deps, 'table'>, subject: string): Promise<AuditHead | undefined> => {
  const item = await deps.table.get(auditHeadKey(subject))
  return item && v.parse(AuditHeadSchema, item)
}

/** A subject is changed by people, a few times in its life: one page, as good as always. */
const PAGE = 500

/** Records begin with their time. The head of another subject's chain, whose key ends in a name, is none of them. */
const RECORDS = { between: ['0', '9~'] } as const

/** Of one millisecond the key knows no order. */
const oldestFirst = (a: AuditRecord, b: AuditRecord): number =>
  a.at === b.at ? a.number - b.number : a.at < b.at ? -1 : 1

const storedRecords = async (deps: Pick<Deps, 'table'>, subject: string): Promise<readonly Item[]> => {
  const found: Item[] = []
  for await (const items of queryPages(deps, { partition: [auditRecordPk(subject)], range: RECORDS, limit: PAGE })) {
    found.push(...items)
  }
  return found
}

/** Who changed what about a subject, oldest first, strongly consistent. */
export const listAuditRecords = async (deps: Pick<Deps, 'table'>, subject: string): Promise<readonly AuditRecord[]> =>
  (await storedRecords(deps, subject)).map((item) => v.parse(AuditRecordSchema, item)).toSorted(oldestFirst)

/** The same for an audit: a record that was changed may be unreadable. */
export const readAuditRecords = async (deps: Pick<Deps, 'table'>, subject: string) => {
  const parsed = (await storedRecords(deps, subject)).map((item) => v.safeParse(AuditRecordSchema, item))
  const records = parsed.flatMap((record) => (record.success ? [record.output] : [])).toSorted(oldestFirst)
  return { records, unreadable: parsed.length - records.length }
}
