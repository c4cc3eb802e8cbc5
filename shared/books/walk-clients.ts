import * as v from 'valibot'
import type { Deps } from '../deps.ts'
import { invalid } from '../errors.ts'
import { type ClientId, ClientIdSchema } from '../ids.ts'
import { BookDaySchema, bookDay } from '../journal/day-totals.ts'
import { CursorTime } from '../page.ts'
import { clientKey } from '../table/keys.ts'
import { queryPages } from '../table/list-items.ts'
import { GATEWAY_OWNER } from '../table/schema.ts'
import { TimestampSchema } from '../time.ts'

const Position = v.strictObject({ clientId: ClientIdSchema, createdAt: CursorTime })

type ClientPosition = v.InferOutput<typeof Position>

/** The cursor of a report on all clients: the period, and the last client. */
export const WALK_FIELDS = {
  period: v.pipe(
    v.strictObject({ from: BookDaySchema, to: BookDaySchema }),
    v.check(({ from, to }) => from <= to),
  ),
  position: Position,
}

const Row = v.object({ id: ClientIdSchema, listedAt: TimestampSchema })

/** So many clients are read at the same time, before the run checks its time again. */
const PAGE = 40

/** A run begins no further page of clients after this time; its function has a third more. */
const RUN_MS = 200_000

/**
 * Reads clients page by page, in the order of their registration, until `isFull` or the run's time
 * is over. Answers the last client of this run; undefined when it was the last of all. The index
 * may miss a client of the last minute.
 */
export async function walkClients(
  deps: Pick<Deps, 'table' | 'monotonicMs'>,
  start: ClientPosition | undefined,
  report: {
    readonly read: (clientIds: readonly ClientId[]) => Promise<void>
    readonly isFull: () => boolean
  },
): Promise<ClientPosition | undefined> {
  const endsAtMs = deps.monotonicMs() + RUN_MS
  let position: ClientPosition | undefined
  // The attributes of the table and of the index, as the table spells them.
  const place = {
    owner: GATEWAY_OWNER,
    entity: 'client',
    listed_at: start?.createdAt,
    id: start?.clientId,
  }
  const cursor = start && { ...clientKey(start.clientId), ...place }
  const list = {
    index: 'by-owner',
    partition: [GATEWAY_OWNER, 'client'],
    limit: PAGE,
    cursor,
  } as const
  for await (const page of queryPages(deps, list)) {
    const rows = page.items.map((item) => v.parse(Row, item))
    await report.read(rows.map(({ id }) => id))
    const last = rows.at(-1)
    position = page.cursor && last && { clientId: last.id, createdAt: last.listedAt }
    if (report.isFull() || deps.monotonicMs() >= endsAtMs) break
  }
  return position
}

/** Days of Asia/Jakarta, both included. */
export type BookPeriod = { readonly from: string; readonly to: string }

/** Input of a report that may need several runs. */
export const periodFields = {
  from: v.optional(BookDaySchema),
  to: v.optional(BookDaySchema),
  format: v.optional(v.picklist(['json', 'csv']), 'json'),
  cursor: v.optional(v.string()),
}
export type PeriodInput = Readonly<v.InferOutput<v.ObjectSchema<typeof periodFields, undefined>>>

/** By default the last day is today, and the first is the first of that month. */
export function bookPeriod(
  deps: Pick<Deps, 'now'>,
  input: Pick<PeriodInput, 'from' | 'to'>,
): BookPeriod {
  const today = bookDay(deps.now())
  const { to = today } = input
  const { from = `${to.slice(0, 'yyyy-mm'.length)}-01` } = input
  if (to > today)
    throw invalid('to must not be in the future', { to: [`at most ${today}, the date in Jakarta`] })
  if (from > to) throw invalid('from must not be after to', { from: [`at most ${to}`] })
  return { from, to }
}

export function isInPeriod({ from, to }: BookPeriod, day: string): boolean {
  return from <= day && day <= to
}
