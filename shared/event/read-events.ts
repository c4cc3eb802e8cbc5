import * as v from 'valibot'
import type { TableDeps } from '../deps.ts'
import type { ClientId, PaymentId } from '../ids.ts'
import { toItem } from '../table/attributes.ts'
import { EVENT_SK_PREFIX, eventKey, paymentKey, rowKeyOf } from '../table/keys.ts'
import { queryAll, queryPages } from '../table/list-items.ts'
import { type Event, EventFields, type EventPosition, typeOfEvent } from './event.ts'

const Row = v.looseObject({ pk: v.string(), sk: v.string() })

export const EventSchema = v.pipe(v.unknown(), v.transform(withKeyFields), EventFields)

/**
 * All events of a payment: at most one of its status, and one of each of its fifty movements of
 * money.
 */
export async function listPaymentEvents(
  deps: TableDeps,
  paymentId: PaymentId,
): Promise<readonly Event[]> {
  const query = {
    partition: [paymentKey(paymentId).pk],
    range: { beginsWith: EVENT_SK_PREFIX },
    limit: 100,
  }
  return (await queryAll(deps, query)).map((item) => v.parse(EventSchema, item))
}

type Span = {
  readonly clientId: ClientId
  /** Both times included. */
  readonly between: readonly [string, string]
  readonly limit?: number
  readonly after?: EventPosition | undefined
}

/**
 * Positions of a client's events that fired in a span of time, oldest first, after a given
 * position.
 */
export async function listEventPositions(
  deps: TableDeps,
  query: Span & { readonly limit: number },
): Promise<readonly EventPosition[]> {
  const found: EventPosition[] = []
  for await (const positions of eventPositionPages(deps, query)) {
    found.push(...positions)
    if (found.length >= query.limit) break
  }
  return found.slice(0, query.limit)
}

const EventPositionSchema = v.pipe(
  v.unknown(),
  v.transform(withKeyFields),
  v.pick(EventFields, ['eventId', 'name', 'paymentId', 'firedAt']),
)

export async function* eventPositionPages(
  deps: TableDeps,
  { clientId, between, limit = 500, after }: Span,
): AsyncGenerator<readonly EventPosition[]> {
  const [owner, entity] = [clientId, 'event']
  const pages = queryPages(deps, {
    index: 'by-owner',
    partition: [owner, entity],
    range: { between },
    limit,
    cursor: after && {
      ...eventKey(after.paymentId, after.name),
      ...toItem({ owner, entity, listedAt: after.firedAt, id: after.eventId }),
    },
  })
  for await (const { items } of pages) {
    yield items.map((item) =>
      v.parse(EventPositionSchema, { ...item, ...rowKeyOf('PAYMENT', item) }),
    )
  }
}

/** Adds the fields that a row leaves out: its keys and index attributes contain them. */
function withKeyFields(row: unknown): unknown {
  const parsedRow = v.safeParse(Row, row)
  if (!parsedRow.success) return row
  const { pk, sk, id, owner, listedAt } = parsedRow.output
  const name = sk.slice(EVENT_SK_PREFIX.length)
  return {
    eventId: id,
    name,
    type: typeOfEvent(name),
    clientId: owner,
    paymentId: pk.slice(pk.indexOf('#') + 1),
    firedAt: listedAt,
    ...parsedRow.output,
  }
}

/** The events at these positions, strongly consistent; undefined where an event is gone. */
export async function findEvents(
  deps: TableDeps,
  positions: readonly EventPosition[],
): Promise<readonly (Event | undefined)[]> {
  const items = await deps.table.getMany(
    positions.map(({ paymentId, name }) => eventKey(paymentId, name)),
  )
  return items.map((item) => item && v.parse(EventSchema, item))
}
