import * as v from 'valibot'
import type { StoreDeps } from '../../deps.ts'
import {
  type Event,
  EventNameSchema,
  envelopeBody,
  heldEventName,
  isOfSuspense,
  RETENTION,
  reversedEventName,
  STATUS_EVENT_TYPES,
  typeOfEvent,
} from '../../event/event.ts'
import { eventRow } from '../../event/event-store.ts'
import { EventSchema, eventPositionPages } from '../../event/read-events.ts'
import {
  type ClientId,
  eventIdFor,
  type PaymentId,
  paymentOfSubject,
  subjectOfPayment,
} from '../../ids.ts'
import { ifValid } from '../../if-valid.ts'
import type { Movement } from '../../journal/payment-money.ts'
import type { HeldMoney, Payment } from '../../payment/payment.ts'
import { toHeldData, toReversedData, toWebhookData } from '../../payment/payment-dto.ts'
import { PaymentSchema } from '../../payment/payment-store.ts'
import { moneyOf } from '../../posting/payment-entries.ts'
import { HELD_STATUSES } from '../../suspense/suspense.ts'
import type { Item } from '../../table/attributes.ts'
import { paymentKey } from '../../table/keys.ts'
import {
  addMs,
  DAY_MS,
  expiresAfter,
  MINUTE_MS,
  type Timestamp,
  TimestampSchema,
} from '../../time.ts'
import {
  compare,
  type Difference,
  onlyIf,
  tryToMake,
  unknownName,
  unreadableRow,
} from '../../verdict/difference.ts'
import { rowDifferences, ttlOf } from '../rows/row-differences.ts'
import { estimateOf } from './derive-payment.ts'

/** Derives the event that its payment's transaction wrote, and compares it with what is stored. */
export function auditEvent(
  payment: Payment,
  { name, item }: { readonly name: string; readonly item: Item | undefined },
  { clientId, now }: { readonly clientId: ClientId; readonly now: Timestamp },
) {
  const subject = subjectOfPayment(payment.paymentId)
  const endedAt = payment.transitions.at(-1)?.at
  return compareEvent('event', { subject, name, clientId, item }, { endedAt, now }, (stored) => {
    const heldMoney = heldBy(payment, stored.name)
    const firedAt =
      movementOf(payment, stored)?.notedAt ?? (heldMoney ? undefined : endedAt) ?? stored.firedAt
    // The event has the fee that was known when it fired: the final fee, or the estimate.
    const forms = [payment, asEstimated(payment), ...(heldMoney ? [asPending(payment)] : [])]
    // An erasure changes the events before the payment.
    const erased = forms.map((form) => ({ ...form, customer: undefined }))
    const bodies = [...forms, ...erased].map((form) => bodyOf(form, { ...stored, firedAt }))
    return { firedAt, body: bodies.find((one) => one === stored.body) ?? bodies[0] ?? '' }
  })
}

type StoredEvent = Pick<Event, 'subject' | 'name' | 'clientId'> & {
  readonly item: Item | undefined
}

/** `endedAt`: when its subject ended. `derive`: from the event with what its key says. */
export function compareEvent(
  kind: string,
  { item, ...own }: StoredEvent,
  { endedAt, now }: { readonly endedAt: Timestamp | undefined; readonly now: Timestamp },
  derive: (stored: Event) => Pick<Event, 'firedAt' | 'body'>,
) {
  const { subject, name } = own
  const { id } = subject
  if (item === undefined) {
    // Events outlive their deliveries.
    const mayBeGone = endedAt !== undefined && addMs(endedAt, RETENTION.deliveryMs) <= now
    return onlyIf(!mayBeGone, compare(kind, id, name, undefined))
  }
  const stored = ifValid(EventSchema, item)
  if (stored === undefined) return unreadableRow(kind, id)
  const source = { ...stored, ...own, eventId: eventIdFor(subject, name) }
  const event = { ...source, ...derive(source) }
  const born = expiresAfter(event.firedAt, RETENTION.eventMs)
  const { ttl = 0 } = ttlOf(item)
  const isKept = ttl >= born && ttl <= expiresAfter(addMs(now, DAY_MS), RETENTION.eventMs)
  return rowDifferences(kind, id, eventRow({ ...event, ttl: isKept ? ttl : born }), item)
}

export function asEstimated(payment: Payment): Payment {
  return { ...payment, ...estimateOf(payment), feeStatus: 'estimated' }
}

/** Undefined when the payment's figures do not add up. */
function bodyOf(payment: Payment, event: Event) {
  return tryToMake(() => {
    const movement = movementOf(payment, event)
    const moved = movement && asMovedBy(payment, movement)
    const heldMoney = heldThen(payment, event)
    const data = moved
      ? toReversedData(moved, movement)
      : heldMoney
        ? toHeldData(payment, heldMoney)
        : toWebhookData(payment)
    return envelopeBody(event.type, event.eventId, event.firedAt, data)
  })
}

/** Held money may come while the payment is pending still. */
function asPending(payment: Payment): Payment {
  return { ...asEstimated(payment), status: 'pending', paidAt: undefined, failureReason: undefined }
}

/** The held money that the event announces, as it was then. */
export function heldBy({ held = [] }: Payment, name: string): HeldMoney | undefined {
  return held
    .flatMap((shown) => HELD_STATUSES.map((status) => ({ ...shown, status })))
    .find(({ suspenseId, status }) => heldEventName(suspenseId, status) === name)
}

const HeldBody = v.object({ data: v.object({ held: v.object({ at: TimestampSchema }) }) })

/** After a restore the item may be held anew: its event keeps the time of the lost one. */
function heldThen(payment: Payment, { name, body }: Event): HeldMoney | undefined {
  const heldMoney = heldBy(payment, name)
  const said = heldMoney && tryToMake(() => v.parse(HeldBody, JSON.parse(body)))
  return said ? { ...heldMoney, at: said.data.held.at } : heldMoney
}

function movementOf({ movements }: Payment, { name }: Event) {
  return movements.find((movement) => reversedEventName(movement) === name)
}

export function asMovedBy(payment: Payment, movement: Movement): Payment {
  const moved = {
    ...payment,
    movements: payment.movements.slice(0, payment.movements.indexOf(movement) + 1),
  }
  return { ...moved, takenBackMinor: moneyOf(moved).takenBackMinor }
}

/** Money that is held earlier may have been held before its merchant could see the payment. */
export const UNSEEN_MS = 2 * MINUTE_MS

/**
 * A payment has an event of its status, of each movement of its money, and of held money. Money
 * that was held before the payment could be seen is announced by its later status alone.
 */
export function eventNamesOf(payment: Payment) {
  const { status, movements, held = [] } = payment
  const seenAt = addMs(payment.createdAt, UNSEEN_MS)
  return [
    ...STATUS_EVENT_TYPES.filter((type) => type === `payment.${status}`),
    ...movements.map(reversedEventName),
    ...held.flatMap(({ suspenseId, status: now, at }) =>
      [...new Set(at < seenAt ? [now] : ['open', now])].map((shown) =>
        heldEventName(suspenseId, shown),
      ),
    ),
  ]
}

export const STRAY_EVENT = 'only events that the payment explains'

/**
 * Events that their payments do not show: a restore brought back only the events, and no later news
 * changes the payments. `isExplained`: by a payment that was just judged.
 */
export async function auditStrayEvents(
  deps: StoreDeps,
  clientId: ClientId,
  between: readonly [string, string],
  isExplained: (paymentId: PaymentId, name: string) => boolean,
) {
  const differences: Difference[] = []
  for await (const { rows, unreadableIds } of eventPositionPages(deps, { clientId, between })) {
    differences.push(
      ...unreadableIds.flatMap((name) =>
        v.is(EventNameSchema, name)
          ? unreadableRow('event', name)
          : [unknownName('event', typeOfEvent(name))],
      ),
    )
    const events = rows.flatMap(({ subject, name, firedAt }) => {
      const paymentId = paymentOfSubject(subject)
      return paymentId && !isExplained(paymentId, name) ? [{ paymentId, name, firedAt }] : []
    })
    const items = await deps.table.getMany(
      [...new Set(events.map(({ paymentId }) => paymentId))].map(paymentKey),
    )
    // No list of this client has a payment that names another client or another id.
    const own = items.filter((item) => item?.['owner'] === clientId)
    const byId = new Map(own.map((item) => [item?.['id'], item]))
    const strays = events.filter((event) => !hasEvent(byId.get(event.paymentId), event, deps.now()))
    differences.push(
      ...strays.flatMap(({ paymentId, name }) => compare('event', paymentId, STRAY_EVENT, name)),
    )
  }
  return differences
}

/** The provider's rows, and its next word of a dispute, bring back a lost item for so long. */
const COMES_BACK_MS = 4 * DAY_MS

/** A payment that is being created or absent has no event. */
function hasEvent(
  item: Item | undefined,
  { name, firedAt }: Pick<Event, 'name' | 'firedAt'>,
  now: Timestamp,
) {
  const payment = ifValid(PaymentSchema, item)
  if (payment === undefined) return false
  if (!isOfSuspense(typeOfEvent(name))) return eventNamesOf(payment).includes(name)
  const isShown = payment.dispute !== undefined || payment.held !== undefined
  return isShown || addMs(firedAt, COMES_BACK_MS) > now
}
