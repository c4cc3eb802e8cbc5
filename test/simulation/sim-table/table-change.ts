import type { StoredItem } from './attribute-value.ts'

export type ItemKey = { readonly pk: string; readonly sk: string }

/** One change of one item: what the stream tells, and what the indexes have to follow. Read only, never copied. */
export type TableChange = {
  /** Counts the changes of the table, from 1. */
  readonly sequence: number
  /** The sequence of the change before it of the same item; 0 when there was none. */
  readonly previous: number
  readonly key: ItemKey
  readonly before: StoredItem | undefined
  readonly after: StoredItem | undefined
  readonly eventName: 'INSERT' | 'MODIFY' | 'REMOVE'
}

/** One text for a key that no other key has. */
export const keyText = ({ pk, sk }: ItemKey): string => `${pk.length}:${pk}${sk}`
