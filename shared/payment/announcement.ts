import * as v from 'valibot'
import { isListedChannel } from '../channel/channels.ts'
import type { Deps } from '../deps.ts'
import { assertInvariant } from '../errors.ts'
import {
  disputedEventName,
  type Event,
  envelopeBody,
  heldEventName,
  reversedEventName,
  STATUS_EVENT_TYPES,
} from '../event/event.ts'
import { EventSchema } from '../event/read-events.ts'
import { subjectOfPayment } from '../ids.ts'
import { ifValid } from '../if-valid.ts'
import { loggedPayment } from '../log.ts'
import { FAILURE_REASONS } from '../payment-status.ts'
import type { Steps } from '../table/table.ts'
import { addMs, type Timestamp, TimestampSchema } from '../time.ts'
import {
  type AnnounceDeps,
  type Announcement,
  announce,
  FRESH_MS,
  sendAnnouncement,
} from '../webhook/delivery/announce.ts'
import type { HeldMoney, Payment } from './payment.ts'
import { toDisputedData, toHeldData, toReversedData, toWebhookData } from './payment-dto.ts'

/** Announces the payment's last transition. `cancelled` has no event (spec 6.1). */
export async function announcementOf(deps: AnnounceDeps, payment: Payment): Promise<Announcement> {
  const name = STATUS_EVENT_TYPES.find((type) => type === `payment.${payment.status}`)
  const firedAt = payment.transitions.at(-1)?.at ?? payment.createdAt
  return name === undefined
    ? { steps: {}, deliveries: [], freshUntil: addMs(firedAt, FRESH_MS) }
    : announceOf(deps, payment, name, toWebhookData(payment), firedAt)
}

function announceOf(
  deps: AnnounceDeps,
  { paymentId, clientId }: Payment,
  name: string,
  data: object,
  firedAt: Timestamp,
) {
  return announce(deps, { name, subject: subjectOfPayment(paymentId), clientId, data, firedAt })
}

/** Announces the newest movement of the payment's money (design section 8). */
export async function announcementOfMovement(deps: AnnounceDeps, payment: Payment) {
  const movement = payment.movements.at(-1)
  assertInvariant(movement !== undefined, 'a payment whose money moved has a movement')
  const data = toReversedData(payment, movement)
  return announceOf(deps, payment, reversedEventName(movement), data, movement.notedAt)
}

/** Announces the payment's dispute, once for each state (design section 14). */
export function announcementOfDispute(
  deps: AnnounceDeps,
  payment: Payment,
  dispute: NonNullable<Payment['dispute']>,
  firedAt: Timestamp,
) {
  const name = disputedEventName(dispute.caseId, dispute.state)
  return announceOf(deps, payment, name, toDisputedData(payment, dispute), firedAt)
}

/** Announces held money of the payment, once for each of its statuses (design section 8). */
export function announcementOfHeld(
  deps: AnnounceDeps,
  payment: Payment,
  held: HeldMoney,
  firedAt: Timestamp,
) {
  const name = heldEventName(held.suspenseId, held.status)
  return announceOf(deps, payment, name, toHeldData(payment, held), firedAt)
}

/** A payment as its last transition leaves it, and the steps that write it. */
type EndPlan = { readonly payment: Payment; readonly steps: Steps<string> }

/** What an event says of the transition that it announced. */
export type AnnouncedEnd = v.InferOutput<typeof EndBody>['data'] & { readonly at: Timestamp }

const EndData = v.object({
  failure_reason: v.optional(v.picklist(FAILURE_REASONS)),
  payment_destination: v.optional(v.string()),
  created_at: v.optional(TimestampSchema),
  paid_at: v.optional(TimestampSchema),
})
const EndBody = v.pipe(v.string(), v.parseJson(), v.object({ data: EndData }))

/** An altered body says nothing. It differs from what the payment announces. */
export function announcedEnd({ body, firedAt: at }: Pick<Event, 'body' | 'firedAt'>): AnnouncedEnd {
  return { ...ifValid(EndBody, body)?.data, at }
}

/**
 * Commits the transition that ended a payment, and sends its deliveries. After a restore the table
 * may have the event alone. Then the transition takes the time that the event announced, so that
 * event and payment agree. `mayTake`: whether the event may be of this transition.
 */
export async function commitTransition(
  deps: AnnounceDeps & Pick<Deps, 'queues' | 'log' | 'now'>,
  plan: (end: AnnouncedEnd) => EndPlan,
  mayTake = async () => true,
  at = deps.now(),
) {
  const transition = plan({ at })
  const announcement = await announcementOf(deps, transition.payment)
  const outcome = await deps.table.transact(
    { ...transition.steps, ...announcement.steps },
    announcement.freshUntil,
  )
  if (outcome.applied) {
    await reportTransition(deps, transition, announcement)
    return { outcome, payment: transition.payment }
  }
  const event = outcome.refusedBy === 'event' ? ifValid(EventSchema, outcome.item) : undefined
  const announced = event && plan(announcedEnd(event))
  const isSame = event && announced && isAnnouncedBy(announced.payment, event)
  if (!isSame || !(await mayTake())) return { outcome, payment: transition.payment }
  const taken = await deps.table.transact(announced.steps)
  if (taken.applied) await reportTransition(deps, announced, { deliveries: [] })
  return { outcome: taken, payment: announced.payment }
}

function isAnnouncedBy(payment: Payment, { name, type, eventId, firedAt, body }: Event) {
  const own = envelopeBody(type, eventId, firedAt, toWebhookData(payment))
  return name === `payment.${payment.status}` && own === body
}

async function reportTransition(
  deps: Pick<Deps, 'queues' | 'log'>,
  { payment }: EndPlan,
  announcement: Pick<Announcement, 'deliveries'>,
) {
  const lastTransition = payment.transitions.at(-1)
  assertInvariant(
    lastTransition !== undefined && lastTransition.status !== 'pending',
    'a payment ends by its last transition',
  )
  // With 0 deliveries, this line shows that no endpoint of the merchant gets the event.
  const fields = {
    source: lastTransition.source,
    deliveries: announcement.deliveries.length,
    failure_reason: payment.failureReason,
  }
  deps.log.info(`payment.${lastTransition.status}`, {
    ...loggedPayment(payment, isListedChannel(payment)),
    ...fields,
  })
  await sendAnnouncement(deps, announcement)
}
