import type { FaultOrder } from './faults.ts'
import type { Payment, PaymentRequest, Transaction, TransactionFee } from './provider-objects.ts'

export type RequestRecord = { readonly id: string; readonly expiresAtMs: number; readonly request: PaymentRequest }

export type PaymentRecord = { readonly id: string; readonly payment: Payment }

export type TransactionRecord = {
  readonly id: string
  readonly row: Transaction
  /** The fee as it will be once the row is settled at `settleAtMs`; both absent on a settled row. */
  readonly settleAtMs?: number
  readonly finalFee?: TransactionFee
  /** Faults that took hold of this row: it is not shown, or shown a second time under another id. */
  readonly missing?: true
  readonly duplicateId?: string
}

export type CallbackRecord = {
  readonly id: string
  /** The same in every attempt and in every duplicate of one callback. */
  readonly webhookId: string
  readonly event: string
  readonly data: object
  readonly wrongToken: boolean
  /** A forger tries once; the provider retries. */
  readonly forged: boolean
  /** Held back until another callback has been sent, or `dueMs`. */
  readonly held: boolean
  readonly attempts: number
  readonly dueMs: number
}

export type FaultRecord = FaultOrder & { readonly id: string }

export type CounterRecord = { readonly id: string; readonly count: number }

type Records = {
  requests: RequestRecord
  payments: PaymentRecord
  transactions: TransactionRecord
  callbacks: CallbackRecord
  faults: FaultRecord
  calls: CounterRecord
  sequences: CounterRecord
}

export type TableName = keyof Records

type ChangeOf<N extends TableName> = {
  [K in N]: { readonly table: K; readonly id: string; readonly record: Records[K] | null }
}[N]

/** One record written, or removed (null). A list of these is both the journal and, from an empty start, a snapshot. */
export type Change = ChangeOf<TableName>

export const TABLE_NAMES = [
  'requests',
  'payments',
  'transactions',
  'callbacks',
  'faults',
  'calls',
  'sequences',
] as const satisfies readonly TableName[]

/** All state of the simulator: a few tables of immutable records that are replaced, never changed in place. */
export const createStore = (from: readonly Change[] = []) => {
  let touched: { readonly table: TableName; readonly id: string }[] = []
  const maps = emptyMaps()

  const restore = <N extends TableName>({ table, id, record }: ChangeOf<N>) => {
    const rows: Map<string, Records[N]> = maps[table]
    if (record) rows.set(id, record)
    else rows.delete(id)
  }

  for (const change of from) restore(change)

  const tableOf = <N extends TableName>(table: N) => {
    const rows: Map<string, Records[N]> = maps[table]
    return {
      get: (id: string) => rows.get(id),
      /** Oldest first: a record keeps its place when it is replaced. */
      all: () => [...rows.values()],
      put: (record: Records[N]): void => {
        rows.set(record.id, record)
        touched.push({ table, id: record.id })
      },
      delete: (id: string): void => {
        if (rows.delete(id)) touched.push({ table, id })
      },
    }
  }

  return {
    requests: tableOf('requests'),
    payments: tableOf('payments'),
    transactions: tableOf('transactions'),
    callbacks: tableOf('callbacks'),
    faults: tableOf('faults'),
    calls: tableOf('calls'),
    sequences: tableOf('sequences'),
    /** The changes since the last call, in order. */
    takeChanges: () => {
      const changes = touched.map(({ table, id }) => changeOf(table, id, maps[table].get(id) ?? null))
      touched = []
      return changes
    },
    snapshot: () => TABLE_NAMES.flatMap((table) => [...maps[table]].map(([id, record]) => changeOf(table, id, record))),
  }
}

export type Store = ReturnType<typeof createStore>

const emptyMaps = (): { readonly [N in TableName]: Map<string, Records[N]> } => ({
  requests: new Map(),
  payments: new Map(),
  transactions: new Map(),
  callbacks: new Map(),
  faults: new Map(),
  calls: new Map(),
  sequences: new Map(),
})

const changeOf = <N extends TableName>(table: N, id: string, record: Records[N] | null): ChangeOf<N> => ({
  table,
  id,
  record,
})
