import { createHash } from 'node:crypto'
import type { Ledger } from './ledger-store.ts'

/** Nothing has moved while this is the same: credits, counts, and all that settlements do. */
export const ledgerStand = ({ shards, window }: Pick<Ledger, 'shards' | 'window'>): string => {
  const plain = (_: string, value: unknown) =>
    value instanceof Set ? [...value].map(String).toSorted((a, b) => (a < b ? -1 : 1)) : value
  const sorted = shards.toSorted((a, b) => a.number - b.number)
  return createHash('sha256')
    .update(JSON.stringify([sorted, window], plain))
    .digest('hex')
}
