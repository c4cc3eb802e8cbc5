import type { Timestamp } from '../time.ts'
import type { Item } from './attributes.ts'
import type { Key } from './keys.ts'
import type { IndexName } from './schema.ts'
import type { Step } from './step.ts'

/** A refused condition is an outcome, not an exception: the item as it was tells the caller why. */
export type WriteOutcome = { readonly applied: boolean; readonly item: Item | undefined }

export type TransactOutcome<Name extends string> =
  | { readonly applied: true }
  | { readonly applied: false; readonly refusedBy: Name; readonly item: Item | undefined }

/** The parts of a transaction by their names. Those that are undefined take no part. */
export type Steps<Name extends string> = Readonly<Record<Name, Step | undefined>>

export type Range =
  | { readonly atMost: unknown }
  | { readonly between: readonly [unknown, unknown] }
  | { readonly beginsWith: string }

export type QueryInput = {
  readonly index?: IndexName
  /** Values of the partition attributes, in the schema's order. */
  readonly partition: readonly unknown[]
  /** A range over the first sort attribute. */
  readonly range?: Range
  readonly limit: number
  readonly newestFirst?: boolean
  readonly cursor?: Item
  /** Passes over the items without bringing them here: only their number and the cursor are answered. */
  readonly countOnly?: boolean
  /** Only these fields of each item are answered. A function may be granted these alone (table/access.ts). */
  readonly fields?: readonly string[]
}

export type QueryPage = {
  readonly items: readonly Item[]
  readonly count: number
  /** Goes back as it came: its attributes keep the table's spelling. */
  readonly cursor: Item | undefined
}

export type Reads = 'consistent' | 'eventual'

/** The port to the one table: what is read and written, as plain data. How it is asked for is the adapter's. */
export type Table = {
  /**
   * One item, strongly consistent: reads that decide are never stale. One whose `ttl` has passed is not there. With
   * `fields` only these are answered, and a function may be granted these alone (table/access.ts).
   */
  get(key: Key, fields?: readonly string[]): Promise<Item | undefined>
  /**
   * Fields of one item that never change once it is there, or the item's absence: asked at half the price of a read that
   * decides, and again if it is not there yet. A function may be granted these fields alone (table/access.ts).
   */
  getFields(key: Key, fields: readonly string[]): Promise<Item | undefined>
  /**
   * Any number of items, strongly consistent, in the order of `keys`; a missing one is undefined in its place. Throws
   * when it stays incomplete. `eventual`: at half the price, for what only shows them; an item may be as it was a moment
   * ago, and one that is new may be missing.
   */
  getMany(keys: readonly Key[], reads?: Reads): Promise<readonly (Item | undefined)[]>
  /**
   * One page of a key range. The table itself is read consistently; an index only suggests, and its newest entries may
   * be missing. `cursor` continues behind the last page and is undefined at the end.
   */
  query(input: QueryInput): Promise<QueryPage>
  /**
   * Writes one item under its condition. Applied: an update answers the item as it is now. Refused: the item as it was
   * (undefined when there is none). An update of fields alone answers no item. Throws on anything else, when trying again did not help.
   */
  write(step: Step): Promise<WriteOutcome>
  /**
   * Writes all steps or none, once. Refused: which step's condition failed first, and that item as it was. With
   * `freshUntil`, steps that others were in the way of are not tried again after that time: StaleSteps.
   */
  transact<Name extends string>(
    steps: Steps<Name>,
    options?: { readonly freshUntil: Timestamp },
  ): Promise<TransactOutcome<Name>>
}

/** Nothing was written: the steps say when something happened, and by now it would have happened later. */
export class StaleSteps extends Error {
  override readonly name = 'StaleSteps'
}
