import type { StoredItem } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import { booksOf, type RawItem, text } from '../../support/recount/books.ts'
import type { World } from './world.ts'

type WithTable = Pick<World, 'table'>

/** Items that have a partition of their own, and the name of their kind for a sort key. */
const rowOf =
  (kind: string) =>
  ({ table }: WithTable, id: unknown): StoredItem | undefined =>
    table.item({ pk: `${kind}#${String(id)}`, sk: kind })

export const paymentRow = rowOf('PAYMENT')
export const deliveryRow = rowOf('DELIVERY')
export const suspenseRow = rowOf('SUSPENSE')
export const verdictRow = rowOf('VERDICT')
export const clientRow = (world: WithTable, id: unknown): StoredItem => rowOf('CLIENT')(world, id) ?? {}

/** What is settled of a client, and what is paid out. */
export const windowRow = ({ table }: WithTable, clientId: unknown): StoredItem =>
  table.item({ pk: `LEDGER#${String(clientId)}`, sk: 'WINDOW' }) ?? {}

/** The payment of an attempt, by the reference that its request has at the provider. */
export const paymentOfReference = (world: WithTable, reference: string | undefined): StoredItem | undefined =>
  paymentRow(world, reference?.slice(0, 36))

/** All rows of a kind that have these values, without what lies beside them in their partitions. */
export const rowsOf = (
  { table }: WithTable,
  kind: 'PAYMENT' | 'DELIVERY' | 'SETTLEMENT',
  having: Readonly<Record<string, unknown>> = {},
): readonly StoredItem[] =>
  table
    .items(`${kind}#`)
    .filter((row) => Object.entries({ sk: kind, ...having }).every(([name, value]) => row[name] === value))

/** A delivery has its status under one name or the other: that decides whether an index lists it. */
export const deliveryStatus = (row: StoredItem = {}): string => text(row, 'status') || text(row, 'state')

/** The journal of a client, in all its parts. */
export const entriesOf = ({ table }: WithTable, clientId: unknown): readonly RawItem[] =>
  booksOf(table.items(`JOURNAL#${String(clientId)}`)).entries
