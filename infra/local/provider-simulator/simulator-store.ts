import * as v from 'valibot'
import { appendJsonLine, readJsonLines, writeJsonLines } from '../process/json-file.ts'
import type { Payment, PaymentRequest, Transaction, TransactionFee } from './provider-objects.ts'

export type RequestRecord = {
  readonly id: string
  readonly expiresAtMs: number
  readonly request: PaymentRequest
}

export type TransactionRecord = {
  readonly id: string
  readonly row: Transaction
  /** A settled row has neither field. */
  readonly settleAtMs?: number
  readonly finalFee?: TransactionFee
  /** The lists do not show the row before. */
  readonly shownAtMs?: number
  /** Of a row that moves a payment's money back: the payment, whatever the row names. */
  readonly paymentId?: string
  /** Lists leave the row out, or show it a second time with another id. */
  readonly missing?: true
  readonly duplicateId?: string
}

export type CallbackRecord = {
  readonly id: string
  /** The same in every attempt and every duplicate of one callback. */
  readonly webhookId: string
  readonly event: string
  readonly data: object
  readonly wrongToken: boolean
  /** A forged callback is never retried. */
  readonly forged: boolean
  /** The callback is held until another callback was sent, or until `dueMs`. */
  readonly held: boolean
  readonly attempts: number
  readonly dueMs: number
}

export type FaultOrder = {
  readonly target: string
  readonly fault: string
  readonly times: number
  readonly value?: unknown
}

export type AccountRecord = {
  readonly id: string
  readonly callsPerMinute: number | null
  readonly permissions: readonly string[]
}

type CounterRecord = { readonly id: string; readonly count: number }

type Records = {
  requests: RequestRecord
  payments: { readonly id: string; readonly payment: Payment }
  transactions: TransactionRecord
  callbacks: CallbackRecord
  faults: FaultOrder & { readonly id: string }
  calls: CounterRecord
  sequences: CounterRecord
  account: AccountRecord
}

type TableName = keyof Records

type ChangeOf<N extends TableName> = {
  [K in N]: { readonly table: K; readonly id: string; readonly record: Records[K] | null }
}[N]

/** Null after a delete. Both the journal and a snapshot are lists of changes. */
export type Change = ChangeOf<TableName>

const TABLE_NAMES = [
  'requests',
  'payments',
  'transactions',
  'callbacks',
  'faults',
  'calls',
  'sequences',
  'account',
] as const satisfies readonly TableName[]

/** A record is replaced, never changed in place. */
export function createStore(initialChanges: readonly Change[] = []) {
  let touchedRecords: { readonly table: TableName; readonly id: string }[] = []

  const tableOf = <N extends TableName>(table: N) => {
    const rows = new Map<string, Records[N]>()
    for (const change of initialChanges) {
      if (!isChangeOf(table, change)) continue
      if (change.record) rows.set(change.id, change.record)
      else rows.delete(change.id)
    }
    return {
      get: (id: string) => rows.get(id),
      /** Oldest first. A replaced record keeps its place. */
      all: () => [...rows.values()],
      put: (record: Records[N]) => {
        rows.set(record.id, record)
        touchedRecords.push({ table, id: record.id })
      },
      delete: (id: string) => {
        if (rows.delete(id)) touchedRecords.push({ table, id })
      },
      changeOf: (id: string): ChangeOf<N> => ({ table, id, record: rows.get(id) ?? null }),
    }
  }

  const tables = {
    requests: tableOf('requests'),
    payments: tableOf('payments'),
    transactions: tableOf('transactions'),
    callbacks: tableOf('callbacks'),
    faults: tableOf('faults'),
    calls: tableOf('calls'),
    sequences: tableOf('sequences'),
    account: tableOf('account'),
  }
  return {
    ...tables,
    /** The changes since the last call, in order. */
    takeChanges: (): Change[] => {
      const changes = touchedRecords.map(({ table, id }) => tables[table].changeOf(id))
      touchedRecords = []
      return changes
    },
    snapshot: () =>
      TABLE_NAMES.flatMap((name) => {
        const table = tables[name]
        return table.all().map(({ id }): Change => table.changeOf(id))
      }),
  }
}

function isChangeOf<N extends TableName>(table: N, change: Change): change is Change & ChangeOf<N> {
  return change.table === table
}

export type Store = ReturnType<typeof createStore>

const ChangeSchema = v.object({
  table: v.picklist(TABLE_NAMES),
  id: v.string(),
  record: v.nullable(v.looseObject({ id: v.string() })),
})
// Only this file writes the journal, so no more than the table's name and the id is checked.
const Step = v.array(v.custom<Change>((change) => v.is(ChangeSchema, change)))

const REWRITE_AFTER_BYTES = 64 * 1024 * 1024

/**
 * A journal with a line for each step, so that the cost of a save does not grow with the state.
 * `loaded` is the content of the file. Call `rewrite` once with that state, then `append` for each
 * step. A last line without its end is dropped, because its step was never answered. Throws if
 * another line cannot be read, because the simulator would lose money silently.
 */
export function openStateFile(path: string) {
  const loaded = readJsonLines(path, Step).flat()
  let bytes = 0
  return {
    loaded,
    /** After a crash, the file has the old or the new content. */
    rewrite: (state: readonly Change[]) => {
      writeJsonLines(
        path,
        state.map((change) => [change]),
      )
      bytes = 0
    },
    /** Much was appended since the last rewrite, or a step could not be written. */
    isLong: () => bytes > REWRITE_AFTER_BYTES,
    /** Writes the changes of a step as a line. After the return, the line survives the process. */
    append: (changes: readonly Change[]) => {
      const earlierBytes = bytes
      bytes = Number.POSITIVE_INFINITY
      bytes = earlierBytes + appendJsonLine(path, changes)
    },
  }
}

export function paymentOfRecord({ row, paymentId }: TransactionRecord) {
  return paymentId ?? row.product_id
}
