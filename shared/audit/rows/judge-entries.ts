import { chunks } from '../../chunks.ts'
import type { TableDeps } from '../../deps.ts'
import type { ClientId } from '../../ids.ts'
import type { Entry } from '../../journal/entry.ts'
import { entryRow, parseEntry } from '../../journal/entry-store.ts'
import type { Payment } from '../../payment/payment.ts'
import { entriesOf } from '../../posting/payment-entries.ts'
import type { Item } from '../../table/attributes.ts'
import { entryKey, journalPk } from '../../table/keys.ts'
import type { Reads } from '../../table/table.ts'
import { compare, tryToMake } from '../../verdict/difference.ts'
import { auditSums } from './audit-legs.ts'
import { rowDifferences } from './row-differences.ts'

export type EntryReads = {
  readonly reads: Reads
  /** Entries that the caller has read: only the others are read. */
  readonly knownItems?: readonly Item[] | undefined
}

/**
 * Derives every entry of each payment, and compares it with what is stored. Altered figures may
 * form no entry; the payment's own row has that difference.
 */
export async function judgeEntries(
  deps: TableDeps,
  clientId: ClientId,
  payments: readonly Payment[],
  { reads, knownItems }: EntryReads,
) {
  const byPayment = new Map(
    payments.map((payment) => [payment, tryToMake(() => entriesOf(payment)) ?? []] as const),
  )
  const wanted = [...byPayment.values()].flat()
  const items = await readEntries(deps, clientId, wanted, { knownItems, reads })
  return [...byPayment].flatMap(([payment, entries]) => {
    const { paymentId } = payment
    const rows = entries.map((entry) => ({ entry, item: items.get(entryKey(clientId, entry).sk) }))
    const stored = rows.flatMap(({ item }) => (item && tryToMake(() => parseEntry(item))) ?? [])
    return [
      ...rows.flatMap(({ entry, item }) =>
        item
          ? rowDifferences('entry', entry.entryId, entryRow(entry), item)
          : compare('entry', entry.entryId, `a ${entry.type} of payment ${paymentId}`, 'missing'),
      ),
      // A missing or unreadable entry is a difference of its own.
      ...(stored.length === rows.length ? auditSums(payment, stored) : []),
    ]
  })
}

/** So many keys are read by one query, if at least a third of the rows between them are wanted. */
const KEYS_OF_QUERY = 100
const ROWS_OF_QUERY = 300

/**
 * Entries by their sort keys. If none is known, most are neighbours: a query costs a quarter of
 * single reads.
 */
async function readEntries(
  deps: TableDeps,
  clientId: ClientId,
  entries: readonly Entry[],
  { knownItems, reads }: EntryReads,
) {
  const found = new Map<unknown, Item>(knownItems?.map((item) => [item['sk'], item]))
  const skOf = (entry: Entry) => entryKey(clientId, entry).sk
  const sorted = entries.toSorted((a, b) => (skOf(a) < skOf(b) ? -1 : 1))
  for (const some of chunks(sorted, KEYS_OF_QUERY)) {
    const [first, last] = [some[0], some.at(-1)]
    if (knownItems === undefined && first && last) {
      const { items } = await deps.table.query({
        partition: [journalPk(clientId)],
        range: { between: [skOf(first), skOf(last)] },
        limit: ROWS_OF_QUERY,
        reads,
      })
      for (const item of items) found.set(item['sk'], item)
    }
    const others = some.filter((entry) => !found.has(skOf(entry)))
    const otherKeys = others.map((entry) => entryKey(clientId, entry))
    for (const item of await deps.table.getMany(otherKeys, reads))
      if (item) found.set(item['sk'], item)
  }
  return found
}
