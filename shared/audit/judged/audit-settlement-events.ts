import * as v from 'valibot'
import type { StoreDeps } from '../../deps.ts'
import {
  envelopeBody,
  SETTLEMENT_EVENT_TYPES,
  type SettlementEventType,
} from '../../event/event.ts'
import { type SettlementId, subjectOfSettlement } from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import { settlementEventOf, toSettlementData } from '../../settlement/announce-settlement.ts'
import type { Settlement } from '../../settlement/settlement.ts'
import { findSettlements } from '../../settlement/settlement-store.ts'
import type { Item } from '../../table/attributes.ts'
import { eventKey } from '../../table/keys.ts'
import type { Timestamp } from '../../time.ts'
import { compare, tryToMake } from '../../verdict/difference.ts'
import { compareEvent, STRAY_EVENT } from './audit-events.ts'
import { type ClientBooks } from './client-books.ts'
import { judgeDeliveries } from './judge-deliveries.ts'

/**
 * Derives the events that a settlement's record and its end wrote, with their deliveries, and
 * compares them with what is stored.
 */
export async function auditSettlementEvents(
  deps: StoreDeps,
  books: RecordedBooks,
  id: SettlementId,
) {
  // A missing settlement is a difference of the figures.
  const [settlement] = await findSettlements(deps, [id])
  return settlement ? auditStoredEvents(deps, books, settlement) : []
}

type RecordedBooks = Pick<ClientBooks, 'clientId' | 'clientRecords'>

export async function auditStoredEvents(
  deps: StoreDeps,
  { clientId, clientRecords }: RecordedBooks,
  settlement: Settlement,
) {
  const { settlementId: id } = settlement
  const subject = subjectOfSettlement(id)
  const stored = await storedEvents(deps, id)
  const names = namesOf(settlement)
  const told = stored.filter(({ name }) => names.includes(name))
  // A recount may have corrected the sums after the event.
  const isRecounted = clientRecords.some((record) =>
    ifValid(RepairRecord, record)?.after.repaired.some((one) => one.id === id),
  )
  const deliveries = await judgeDeliveries(
    deps,
    clientId,
    told.map(({ item }) => ({ subject, item })),
    'consistent',
  )
  return [
    ...straysIn(settlement, stored),
    ...told.flatMap((event) =>
      auditSettlementEvent(settlement, event, { isRecounted, now: deps.now() }),
    ),
    ...deliveries,
  ]
}

const RepairRecord = v.object({
  after: v.object({ repaired: v.array(v.object({ id: v.string() })) }),
})

/** An end that a restore has lost, and that its event still shows. No payout may forget it. */
export async function auditStraysOf(deps: StoreDeps, id: SettlementId) {
  const stored = await storedEvents(deps, id)
  const [settlement] = await findSettlements(deps, [id])
  return settlement ? straysIn(settlement, stored) : []
}

async function storedEvents(deps: StoreDeps, id: SettlementId) {
  const subject = subjectOfSettlement(id)
  const items = await deps.table.getMany(
    SETTLEMENT_EVENT_TYPES.map((name) => eventKey(subject, name)),
  )
  return SETTLEMENT_EVENT_TYPES.map((name, at) => ({ name, item: items[at] }))
}

function straysIn(settlement: Settlement, stored: readonly Named[]) {
  const names = namesOf(settlement)
  return stored.flatMap(({ name, item }) =>
    item && !names.includes(name) ? compare(KIND, settlement.settlementId, STRAY_EVENT, name) : [],
  )
}

/** Of a payment's event the kind is `event`. */
const KIND = 'settlement_event'

type Named = { readonly name: SettlementEventType; readonly item: Item | undefined }

function namesOf(settlement: Settlement) {
  return [...new Set(['settlement.recorded' as const, settlementEventOf(settlement)])]
}

function auditSettlementEvent(
  settlement: Settlement,
  { name, item }: Named,
  { isRecounted, now }: { readonly isRecounted: boolean; readonly now: Timestamp },
) {
  const { settlementId, clientId, createdAt, settledAt } = settlement
  // The settlement has no time of a failure.
  const toldAt = name === 'settlement.recorded' ? createdAt : settledAt
  const event = { subject: subjectOfSettlement(settlementId), name, clientId, item }
  return compareEvent(KIND, event, { endedAt: toldAt ?? createdAt, now }, (stored) => {
    const firedAt = toldAt ?? stored.firedAt
    const said = isRecounted && tryToMake(() => v.parse(SumsBody, JSON.parse(stored.body)))
    const data = { ...toSettlementData(asTold(settlement, name)), ...(said && said.data) }
    return { firedAt, body: envelopeBody(name, stored.eventId, firedAt, data) }
  })
}

/** The settlement as it was when it was announced. */
export function asTold(settlement: Settlement, name: SettlementEventType): Settlement {
  if (name !== 'settlement.recorded') return settlement
  const { bankReference: _, settledAt: __, notes: ___, ...recorded } = settlement
  return { ...recorded, status: 'recorded' }
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
