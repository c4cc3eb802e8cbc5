import type { Timestamp } from '../time.ts'
import type { Item } from './attributes.ts'
import type { Key } from './keys.ts'
import type { IndexName } from './schema.ts'
import type { Step } from './step.ts'

/** A refused condition is an outcome, not an exception. The present item shows the caller why. */
export type WriteOutcome = { readonly applied: boolean; readonly item: Item | undefined }

export type TransactOutcome<Name extends string> =
  | { readonly applied: true }
  /** `stale`: the steps were not written in time; build new steps. */
  | { readonly applied: false; readonly refusedBy: Name | 'stale'; readonly item: Item | undefined }

export type Steps<Name extends string> = Readonly<Record<Name, Step | undefined>>

export type Range =
  | { readonly atMost: unknown }
  | { readonly between: readonly [unknown, unknown] }
  | { readonly beginsWith: string }

export type QueryInput = {
  readonly index?: IndexName
  readonly partition: readonly unknown[]
  readonly range?: Range
  readonly limit: number
  readonly newestFirst?: boolean
  readonly cursor?: Item | undefined
  readonly countOnly?: boolean
  readonly fields?: readonly string[]
  /** Consistent by default. A read of an index is never consistent. */
  readonly reads?: Reads
}

export type QueryPage = {
  readonly items: readonly Item[]
  readonly count: number
  /** The caller passes it back unchanged: its attributes keep the table's names. */
  readonly cursor: Item | undefined
}

export type Reads = 'consistent' | 'eventual'

/**
 * The port to the one table. Reads are consistent by default. An item with a past `ttl` counts as
 * absent.
 */
export type Table = {
  /** With `fields`, only these fields. A role may allow no other fields (table/access.ts). */
  get(key: Key, fields?: readonly string[]): Promise<Item | undefined>
  /**
   * Fields that never change: an eventual read at half the price; consistent if it finds no item.
   */
  getFields(key: Key, fields: readonly string[]): Promise<Item | undefined>
  /**
   * In the order of `keys`; undefined for a missing item. `eventual`: half the price; items may be
   * stale or missing. With `fields`, only these fields of every item.
   */
  getMany(
    keys: readonly Key[],
    reads?: Reads,
    fields?: readonly string[],
  ): Promise<readonly (Item | undefined)[]>
  /** The last page has no cursor. */
  query(input: QueryInput): Promise<QueryPage>
  /** Answers the updated item, or the item that refused the step. Throws after retries. */
  write(step: Step): Promise<WriteOutcome>
  /** Writes all steps or none, once. After `freshUntil` the table is not tried again. */
  transact<Name extends string>(
    steps: Steps<Name>,
    freshUntil?: Timestamp,
  ): Promise<TransactOutcome<Name>>
}
