import * as v from 'valibot'
import { asTold, auditStoredEvents } from '../audit/judged/audit-settlement-events.ts'
import type { ClientBooks } from '../audit/judged/client-books.ts'
import { type Event, SETTLEMENT_EVENT_TYPES } from '../event/event.ts'
import { deliveryIdFor } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { announcementOfSettlement } from '../settlement/announce-settlement.ts'
import type { Settlement } from '../settlement/settlement.ts'
import { requireState } from '../settlement/settlement-store.ts'
import { deliveryKey } from '../table/keys.ts'
import type { Steps } from '../table/table.ts'
import { type Timestamp, TimestampSchema } from '../time.ts'
import { type Difference, isSame, tryToMake } from '../verdict/difference.ts'
import type { Announcement } from '../webhook/delivery/announce.ts'
import { insertDelivery, newDelivery } from '../webhook/delivery/delivery-store.ts'
import { EndpointSchema } from '../webhook/endpoint/endpoint.ts'
import { endpointItem } from '../webhook/endpoint/endpoint-store.ts'
import type { RecountDeps } from './plan.ts'

/** Puts the events and deliveries that the planned settlement has lost. */
export async function planSettlementEvents(
  deps: RecountDeps,
  books: Pick<ClientBooks, 'clientId' | 'clientRecords'>,
  { before, after }: { readonly before: Settlement; readonly after: Settlement },
  { own, events }: { readonly own: readonly Difference[]; readonly events: readonly Event[] },
) {
  const { settlementId: id, clientId } = after
  const found = own.filter((one) => isOfEvents(one, id))
  if (found.length === 0 && before.status === after.status) return []
  const remaining = await auditStoredEvents(deps, books, after)
  const lines: Difference[] = []
  const steps: Steps<string>[] = []
  for (const line of remaining.filter(isMissing)) {
    const puts = await putsOf(deps, after, line, events)
    // A delivery to an unknown endpoint stays lost.
    if (Object.keys(puts).length === 0) continue
    lines.push(line)
    steps.push(puts)
  }
  const isLeft = (one: Difference) =>
    remaining.some((line) => !lines.includes(line) && isSame(line, one))
  const ends = found.filter((one) => !isLeft(one))
  if (lines.length + ends.length === 0) return []
  return [
    {
      subject: id,
      clientId,
      repair: 'put',
      lines,
      ends,
      steps: Object.assign({ settlement: requireState(after) }, ...steps),
    },
  ]
}

/** The difference is a lost item that its source derives. */
export function isMissing({ what, found }: Difference) {
  const isLost = found === 'missing' || found === null
  return isLost && /^(entry|pointer|event|settlement_event|delivery)$/.test(what)
}

async function putsOf(
  deps: RecountDeps,
  after: Settlement,
  { what, id, expected }: Difference,
  events: readonly Event[],
) {
  if (what === 'delivery') {
    const delivery = await lostDelivery(deps, id, events)
    return delivery ? { [id]: delivery } : {}
  }
  const name = SETTLEMENT_EVENT_TYPES.find((type) => type === expected)
  if (name === undefined) return {}
  const told = asTold(after, name)
  const announced = (at: Timestamp) => announcementOfSettlement(deps, told, at)
  const toldAt = told.status === 'recorded' ? told.createdAt : told.settledAt
  // A failure has no time but that of its deliveries.
  const at = toldAt ?? (await timeOfDeliveries(deps, await announced(deps.now())))
  return announceAgain(deps, name, await announced(at ?? deps.now()))
}

const EndBody = v.object({
  data: v.object({
    notes: v.nullable(v.string()),
    settled_at: v.nullable(TimestampSchema),
    bank_reference: v.optional(v.string()),
  }),
})

/** The end of the settlement that one of its events announced. */
export function endIn(events: readonly Event[]): Partial<Settlement> | undefined {
  const event = events.find(({ name }) => name !== 'settlement.recorded')
  const body = event && tryToMake(() => ifValid(EndBody, JSON.parse(event.body)))
  if (!event || !body) return undefined
  const { notes, settled_at, bank_reference: bankReference } = body.data
  return {
    status: event.name === 'settlement.paid' ? 'manual_paid' : 'failed',
    notes: notes ?? undefined,
    settledAt: settled_at ?? undefined,
    bankReference,
  }
}

const OF_SETTLEMENT = /\bof settlement ([0-9a-f-]{36})$/

/** The difference is about the settlement's events, or about a lost delivery of them. */
export function isOfEvents({ what, expected }: Difference, settlementId: string) {
  if (what === 'delivery') return OF_SETTLEMENT.exec(String(expected))?.[1] === settlementId
  return what.startsWith('settlement_event')
}

/** A lost event under its id, with its deliveries that are lost too. */
export async function announceAgain(
  deps: RecountDeps,
  name: string,
  { steps, deliveries }: Announcement,
): Promise<Steps<string>> {
  const items = await storedDeliveries(deps, deliveries)
  const lost = deliveries.flatMap(({ delivery }, at) =>
    items[at] === undefined ? [[delivery.deliveryId, insertDelivery(delivery)] as const] : [],
  )
  return { [name]: steps['event'], ...Object.fromEntries(lost) }
}

/** When the event of these deliveries fired, if one of them is left. */
async function timeOfDeliveries(deps: RecountDeps, { deliveries }: Announcement) {
  const items = await storedDeliveries(deps, deliveries)
  return items.flatMap((item) => ifValid(TimestampSchema, item?.['listedAt']) ?? [])[0]
}

function storedDeliveries(deps: RecountDeps, deliveries: Announcement['deliveries']) {
  return deps.table.getMany(deliveries.map(({ delivery }) => deliveryKey(delivery.deliveryId)))
}

/** Due at once. A delivery to an unknown or unreadable endpoint stays lost. */
export async function lostDelivery(deps: RecountDeps, id: string, events: readonly Event[]) {
  for (const event of events) {
    const endpointId = event.endpointIds.find((one) => deliveryIdFor(event.eventId, one) === id)
    const item = endpointId && (await endpointItem(deps, { ...event, endpointId }))
    const endpoint = ifValid(EndpointSchema, item)
    if (endpoint) return insertDelivery(newDelivery(event, endpoint, event.firedAt))
  }
  return undefined
}
