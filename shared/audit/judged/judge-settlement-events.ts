import * as v from 'valibot'
import type { StoreDeps } from '../../deps.ts'
import {
  type Event,
  envelopeBody,
  RETENTION,
  SETTLEMENT_EVENT_TYPES,
  type SettlementEventType,
} from '../../event/event.ts'
import { eventRow } from '../../event/event-store.ts'
import { EventSchema } from '../../event/read-events.ts'
import { eventIdFor, type SettlementId, subjectOfSettlement } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import type { AuditRecord } from '../../operator/audit-record-store.ts'
import { settlementEventOf, toSettlementData } from '../../settlement/announce-settlement.ts'
import type { Settlement } from '../../settlement/settlement.ts'
import { findSettlements } from '../../settlement/settlement-store.ts'
import type { Item } from '../../table/attributes.ts'
import { eventKey } from '../../table/keys.ts'
import { addMs, DAY_MS, expiresAfter, type Timestamp } from '../../time.ts'
import { compare, type Difference, onlyIf, tryToMake } from '../../verdict/difference.ts'
import { rowDifferences, ttlOf } from '../rows/row-differences.ts'
import { type ClientBooks } from './client-books.ts'
import { judgeDeliveries } from './judge-deliveries.ts'
import { STRAY_EVENT } from './judge-events.ts'

/**
 * Derives the events that a settlement's record and its end wrote, with their deliveries, and
 * compares them with what is stored.
 */
export async function judgeSettlementEvents(
  deps: StoreDeps,
  books: RecordedBooks,
  id: SettlementId,
): Promise<readonly Difference[]> {
  // A missing settlement is a difference of the figures.
  const [settlement] = await findSettlements(deps, [id])
  return settlement ? judgeEventsOf(deps, books, settlement) : []
}

type RecordedBooks = Pick<ClientBooks, 'clientId' | 'clientRecords'>

export async function judgeEventsOf(
  deps: StoreDeps,
  { clientId, clientRecords }: RecordedBooks,
  settlement: Settlement,
): Promise<readonly Difference[]> {
  const { settlementId: id } = settlement
  const subject = subjectOfSettlement(id)
  const stored = await storedEvents(deps, id)
  const told = stored.filter(isToldIn(settlement))
  const isRecounted = clientRecords.some((record) => hasRepaired(record, id))
  const deliveries = await judgeDeliveries(
    deps,
    clientId,
    told.map(({ item }) => ({ subject, item })),
    'consistent',
  )
  return [
    ...straysIn(settlement, stored),
    ...told.flatMap((event) => judgeEvent(settlement, event, { isRecounted, now: deps.now() })),
    ...deliveries.flatMap(({ differences }) => differences),
  ]
}

const RepairRecord = v.object({
  after: v.object({ repaired: v.array(v.object({ id: v.string() })) }),
})

/** A recount may have corrected the sums after the event. */
function hasRepaired(record: AuditRecord, id: SettlementId): boolean {
  return ifValid(RepairRecord, record)?.after.repaired.some((one) => one.id === id) ?? false
}

/** An end that a restore has lost, and that its event still shows. No payout may forget it. */
export async function judgeStrayEvents(
  deps: StoreDeps,
  id: SettlementId,
): Promise<readonly Difference[]> {
  const stored = await storedEvents(deps, id)
  const [settlement] = await findSettlements(deps, [id])
  return settlement ? straysIn(settlement, stored) : []
}

async function storedEvents(deps: StoreDeps, id: SettlementId): Promise<readonly Named[]> {
  const subject = subjectOfSettlement(id)
  const items = await deps.table.getMany(
    SETTLEMENT_EVENT_TYPES.map((name) => eventKey(subject, name)),
  )
  return SETTLEMENT_EVENT_TYPES.map((name, at) => ({ name, item: items[at] }))
}

function straysIn(settlement: Settlement, stored: readonly Named[]): readonly Difference[] {
  return stored
    .filter(isStrayIn(settlement))
    .flatMap(({ name }) => compare(KIND, settlement.settlementId, STRAY_EVENT, name))
}

/** Of a payment's event the kind is `event`. */
const KIND = 'settlement_event'

type Named = { readonly name: SettlementEventType; readonly item: Item | undefined }

function isToldIn(settlement: Settlement) {
  return ({ name }: Named) => namesOf(settlement).includes(name)
}

function isStrayIn(settlement: Settlement) {
  return ({ name, item }: Named) => item !== undefined && !namesOf(settlement).includes(name)
}

function namesOf(settlement: Settlement): readonly SettlementEventType[] {
  return [...new Set(['settlement.recorded' as const, settlementEventOf(settlement)])]
}

function judgeEvent(
  settlement: Settlement,
  { name, item }: Named,
  { isRecounted, now }: { readonly isRecounted: boolean; readonly now: Timestamp },
): readonly Difference[] {
  const { settlementId: id, clientId } = settlement
  const firedAt = toldAt(settlement, name)
  if (item === undefined) {
    // Events outlive their deliveries, which are kept for ninety days.
    const mayBeGone = addMs(firedAt ?? settlement.createdAt, RETENTION.deliveryMs) <= now
    return onlyIf(!mayBeGone, compare(KIND, id, name, undefined))
  }
  const stored = ifValid(EventSchema, item)
  if (stored === undefined) return compare(KIND, id, 'readable', 'unreadable')
  const subject = subjectOfSettlement(id)
  const own = { name, type: name, subject, clientId, eventId: eventIdFor(subject, name) }
  const event = { ...stored, ...own, firedAt: firedAt ?? stored.firedAt }
  const then = asTold(settlement, name)
  const body = bodyOf(then, event, isRecounted ? sumsIn(stored) : {})
  const born = expiresAfter(event.firedAt, RETENTION.eventMs)
  const { ttl = 0 } = ttlOf(item)
  const isKept = ttl >= born && ttl <= expiresAfter(addMs(now, DAY_MS), RETENTION.eventMs)
  return rowDifferences(KIND, id, eventRow({ ...event, body, ttl: isKept ? ttl : born }), item)
}

/** Undefined of a failure, which the settlement has no time of. */
function toldAt({ createdAt, settledAt }: Settlement, name: SettlementEventType) {
  return name === 'settlement.recorded' ? createdAt : settledAt
}

/** The settlement as it was when it was announced. */
export function asTold(settlement: Settlement, name: SettlementEventType): Settlement {
  return name === 'settlement.recorded' ? asRecorded(settlement) : settlement
}

function asRecorded(settlement: Settlement): Settlement {
  const { bankReference: _, settledAt: __, notes: ___, ...recorded } = settlement
  return { ...recorded, status: 'recorded' }
}

function bodyOf(settlement: Settlement, { type, eventId, firedAt }: Event, sums: object): string {
  return envelopeBody(type, eventId, firedAt, { ...toSettlementData(settlement), ...sums })
}

const SumsBody = v.object({
  data: v.object({
    gross_minor: v.number(),
    xendit_fees_minor: v.number(),
    hexolus_markup_minor: v.number(),
    net_minor: v.number(),
    payment_count: v.number(),
  }),
})

function sumsIn({ body }: Event): object {
  return tryToMake(() => v.parse(SumsBody, JSON.parse(body)).data) ?? {}
}
