import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import { type ClientId, type EventSubject, eventIdFor } from '../ids.ts'
import { ifValid, readRows } from '../if-valid.ts'
import { toItem } from '../table/attributes.ts'
import { inflateText } from '../table/deflated-text.ts'
import { eventKey, eventsPk, idOf } from '../table/keys.ts'
import { queryAll, queryPages } from '../table/list-items.ts'
import { type Event, EventFields, type EventPosition, isBodyOf, typeOfEvent } from './event.ts'

const Row = v.looseObject({ pk: v.string(), sk: v.string() })

export const EventSchema = v.pipe(
  v.unknown(),
  v.transform(withKeyFields),
  EventFields,
  v.transform((event) => ({ ...event, eventId: eventIdFor(event.subject, event.name) })),
)

/**
 * A payment has at most one event of its status, and those of its movements, held money and
 * disputes. Undefined for an event that cannot be read.
 */
export async function listEventsOf(
  deps: TableDeps,
  subject: EventSubject,
): Promise<readonly (Event | undefined)[]> {
  const query = { partition: [eventsPk(subject)], limit: 100 }
  return (await queryAll(deps, query)).map((item) => ifValid(EventSchema, item))
}

type EventSpan = {
  readonly clientId: ClientId
  readonly between: readonly [string, string]
  readonly limit?: number
  readonly after?: EventPosition | undefined
}

/** Oldest first, after a given position, without events that cannot be read. */
export async function listEventPositions(
  deps: TableDeps,
  query: EventSpan & { readonly limit: number },
): Promise<readonly EventPosition[]> {
  const found: EventPosition[] = []
  for await (const { rows } of eventPositionPages(deps, query)) {
    found.push(...rows)
    if (found.length >= query.limit) break
  }
  return found.slice(0, query.limit)
}

const EventPositionSchema = v.pipe(
  v.unknown(),
  v.transform(withKeyFields),
  v.pick(EventFields, ['eventId', 'name', 'subject', 'firedAt']),
)

/** An event that cannot be read is named by its key: its type is of a later release. */
export async function* eventPositionPages(
  deps: TableDeps,
  { clientId, between, limit = 500, after }: EventSpan,
) {
  const [owner, entity] = [clientId, 'event']
  const pages = queryPages(deps, {
    index: 'by-owner',
    partition: [owner, entity],
    range: { between },
    limit,
    cursor: after && {
      ...eventKey(after.subject, after.name),
      ...toItem({ owner, entity, listedAt: after.firedAt, id: after.eventId }),
    },
  })
  for await (const { items } of pages) {
    yield readRows(EventPositionSchema, items, ({ sk }) => sk)
  }
}

/** A row leaves these fields out. */
function withKeyFields(row: unknown): unknown {
  const parsedRow = v.safeParse(Row, row)
  if (!parsedRow.success) return row
  const { pk, sk: name, id, owner, listedAt, body } = parsedRow.output
  return {
    ...parsedRow.output,
    eventId: id,
    name,
    type: typeOfEvent(name),
    clientId: owner,
    subject: subjectIn(pk),
    firedAt: listedAt,
    body: inflateText(body),
    storedBody: body,
  }
}

function subjectIn(pk: string): Readonly<Record<keyof EventSubject, string>> {
  const subject = idOf(pk)
  const end = subject.indexOf('#')
  return { kind: subject.slice(0, end), id: subject.slice(end + 1) }
}

/** Strongly consistent; undefined where an event is gone, unreadable or of another client. */
export async function findEvents(
  deps: TableDeps,
  clientId: ClientId,
  positions: readonly EventPosition[],
): Promise<readonly (Event | undefined)[]> {
  const items = await deps.table.getMany(
    positions.map(({ subject, name }) => eventKey(subject, name)),
  )
  return items.map((item) => {
    const event = ifValid(EventSchema, item)
    return event && isBodyOf(clientId, event.body) ? event : undefined
  })
}
