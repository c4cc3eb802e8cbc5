import * as v from 'valibot'
import type { Deps, TableDeps } from '../deps.ts'
import { conflict } from '../errors.ts'
import { type ClientId, sha256Hex } from '../ids.ts'
import { ifValid, readRows } from '../if-valid.ts'
import { itemsOfPage, type Page } from '../page.ts'
import type { Item } from '../table/attributes.ts'
import { auditHeadKey, auditRecordKey, auditRecordPk } from '../table/keys.ts'
import { listItems, queryAll } from '../table/list-items.ts'
import { isNew, put, unchanged } from '../table/step.ts'
import type { Steps, TransactOutcome } from '../table/table.ts'
import { textOf } from '../table/text-of.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'

export const AuditRecordSchema = v.object({
  /** Id of the changed resource; its records are one partition, oldest first. */
  subject: v.string(),
  operator: v.string(),
  action: v.string(),
  at: TimestampSchema,
  requestId: v.optional(v.string()),
  before: v.optional(v.record(v.string(), v.unknown())),
  after: v.optional(v.record(v.string(), v.unknown())),
  /** Counted from 1 for each subject. */
  number: v.number(),
  /** Absent in the first record. */
  previous: v.optional(v.string()),
})
export type AuditRecord = v.InferOutput<typeof AuditRecordSchema>

export const AUDIT_RECORD_ENTITY = 'audit'

export type RecordDeps = Pick<Deps, 'table' | 'now' | 'newId' | 'invocation'>

type NewRecord = Pick<AuditRecord, 'subject' | 'operator' | 'action'> & {
  /** Undefined for a record of no client. */
  readonly clientId: ClientId | string | undefined
  /** The request id of the original invocation, if this invocation continues it. */
  readonly requestId?: string | undefined
  /** The changed fields as plain JSON, in wire names. Never a key, a secret or a body. */
  readonly before?: object
  readonly after?: object
  /** The time and id in the record's key, if another item names them; by default new ones. */
  readonly key?: { readonly at: Timestamp; readonly id: string } | undefined
  /**
   * The chain's head that was read before the change was decided. A later record of the subject
   * then refuses the change as stale: decide again. `follows`: the record before this one, if a
   * restore tore the head from the records.
   */
  readonly head?:
    | { readonly last: AuditHead | undefined }
    | { readonly last: StoredHead | undefined; readonly follows: AuditHead | undefined }
  /** After this time the change is refused as stale. */
  readonly freshUntil?: Timestamp | undefined
}

const TRIES = 5

/** No chain has so many records: a head with a greater number was altered, and is unreadable. */
const MAX_NUMBER = 2 ** 50

export const AuditHeadSchema = v.object({
  number: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_NUMBER)),
  digest: v.string(),
})
export type AuditHead = v.InferOutput<typeof AuditHeadSchema>

/** The digest as the row has it: a head that cannot be read may have none. */
type StoredHead = { readonly digest?: unknown }

/**
 * Writes an operator's change and its audit record in one transaction (design section 7). The
 * records of a subject are a chain: each record names the digest of the previous record, and the
 * head names the last record. So concurrent changes of one subject retry. `secondRecord`: of a
 * register or a batch, in the chain of that subject.
 */
export async function recordChange<Name extends string>(
  deps: RecordDeps,
  { freshUntil, ...record }: NewRecord,
  steps: Steps<Name>,
  secondRecord?: Omit<NewRecord, 'freshUntil'>,
): Promise<TransactOutcome<Name>> {
  for (let tried = 0; tried < TRIES; tried++) {
    const { auditRecord, auditHead, at } = await nextLink(deps, record)
    const second = secondRecord && (await nextLink(deps, secondRecord))
    const chainSteps = {
      auditRecord,
      auditHead,
      secondRecord: second?.auditRecord,
      secondHead: second?.auditHead,
    }
    const outcome = await deps.table.transact<Name | keyof typeof chainSteps>(
      { ...steps, ...chainSteps },
      freshUntil,
    )
    if (outcome.applied) {
      deps.invocation?.recorded({ operator: record.operator, at })
      return outcome
    }
    const { refusedBy } = outcome
    if (!isChainStep(refusedBy)) return { ...outcome, refusedBy }
    if (record.head ?? secondRecord?.head) return { ...outcome, refusedBy: 'stale' }
  }
  throw conflict('another operator is changing this; try again')
}

const CHAIN_STEPS = ['auditRecord', 'auditHead', 'secondRecord', 'secondHead'] as const

function isChainStep(name: string): name is (typeof CHAIN_STEPS)[number] {
  return CHAIN_STEPS.some((step) => step === name)
}

/** The steps that append a record to its subject's chain. */
async function nextLink(deps: RecordDeps, asked: Omit<NewRecord, 'freshUntil'>) {
  const { clientId, key, head, ...fields } = asked
  const { last, previous } = await endOfChain(deps, fields.subject, head)
  const { at, id } = key ?? { at: deps.now(), id: deps.newId() }
  const number = (previous?.number ?? 0) + 1
  const record: AuditRecord = {
    ...v.parse(AuditRecordSchema, JSON.parse(JSON.stringify({ ...fields, at, number }))),
    requestId: fields.requestId ?? deps.invocation?.requestId,
    previous: previous?.digest,
  }
  const row = auditRecordRow(record, { clientId, id })
  return {
    at,
    auditRecord: put(auditRecordKey(record.subject, at, id), row, isNew),
    auditHead: put(
      auditHeadKey(record.subject),
      headAt(record),
      last ? unchanged('digest', last.digest) : isNew,
    ),
  }
}

/** `previous`: the record that the next record follows. */
async function endOfChain(deps: TableDeps, subject: string, head: NewRecord['head']) {
  if (head && 'follows' in head) return { last: head.last, previous: head.follows }
  const last = head ? head.last : await findAuditHead(deps, subject)
  return { last, previous: last }
}

export function headOf(records: readonly AuditRecord[]): AuditHead | undefined {
  const last = records.at(-1)
  return last && headAt(last)
}

export function auditRecordRow(
  record: AuditRecord,
  { clientId, id }: Pick<NewRecord, 'clientId'> & { readonly id: string },
) {
  const listed = { owner: clientId, entity: AUDIT_RECORD_ENTITY, listedAt: record.at, id }
  return { ...record, ...(clientId !== undefined && listed) }
}

/** Throws 409 for a head that cannot be read, which a recount repairs. */
export async function findAuditHead(
  deps: TableDeps,
  subject: string,
): Promise<AuditHead | undefined> {
  const item = await deps.table.get(auditHeadKey(subject))
  const head = ifValid(AuditHeadSchema, item)
  if (item === undefined || head) return head
  throw conflict(
    `the chain of ${subject} has a head that cannot be read`,
    'Run recount-ledger, of a client with --client_id, and repeat the call.',
  )
}

/** For a recount: `head` is undefined for a row that cannot be read, as for one of no record. */
export async function findAnyHead(deps: TableDeps, subject: string) {
  const item = await deps.table.get(auditHeadKey(subject))
  const last: StoredHead | undefined = item && { digest: item['digest'] }
  return { head: ifValid(AuditHeadSchema, item), last }
}

function headAt(record: AuditRecord): AuditHead {
  return { number: record.number, digest: sha256Hex(textOf(record)) }
}

/**
 * The records of a subject, strongly consistent, oldest first by their number, because the clocks
 * of two operators may differ. A changed record may be unreadable: it is only named, so that it
 * hides no other record. Keys of records begin with a time. The range leaves out the head.
 */
export async function readAuditRecords(deps: TableDeps, subject: string) {
  const range = { between: ['0', '9~'] } as const
  const items = await queryAll(deps, { partition: [auditRecordPk(subject)], range, limit: 500 })
  const { rows, unreadableIds } = readRecords(items)
  return { items, records: rows.toSorted((a, b) => a.number - b.number), unreadableIds }
}

/**
 * Undefined if the subject's chain is intact. Names each break with the digest of the record before
 * it: who accepts one break accepts no later one.
 */
export function brokenLink(
  records: readonly AuditRecord[],
  head: AuditHead | undefined,
): string | undefined {
  const broken: string[] = []
  let last: AuditHead | undefined
  const end = () => (last ? `record ${last.number} (${last.digest})` : 'no record')
  for (const record of records) {
    const { number, previous } = record
    if (number !== (last?.number ?? 0) + 1 || previous !== last?.digest)
      broken.push(`record ${number} does not follow ${end()}`)
    last = headAt(record)
  }
  if (head?.number !== last?.number || head?.digest !== last?.digest)
    broken.push(`the head does not name ${end()}`)
  return broken.join('; ') || undefined
}

export async function findAuditRecordsOf(deps: TableDeps, subject: string, page: Page) {
  const { records, unreadableIds } = await readAuditRecords(deps, subject)
  return { rows: itemsOfPage(records.toReversed(), page), unreadableIds }
}

export async function findAuditRecordsOfClient(deps: TableDeps, clientId: ClientId, page: Page) {
  const partition = [clientId, AUDIT_RECORD_ENTITY]
  return readRecords(await listItems(deps, { kind: 'AUDIT', index: 'by-owner', partition, page }))
}

function readRecords(items: readonly Item[]) {
  return readRows(AuditRecordSchema, items, ({ sk }) => sk)
}

export function toAuditRecordDto({
  subject,
  operator,
  action,
  at,
  requestId,
  before,
  after,
}: AuditRecord) {
  return {
    at,
    operator,
    action,
    subject,
    request_id: requestId ?? null,
    before: before ?? null,
    after: after ?? null,
  }
}
