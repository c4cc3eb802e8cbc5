import type { ListDeps, TableDeps } from '../deps.ts'
import type { Event } from '../event/event.ts'
import { listEventsOf } from '../event/read-events.ts'
import { subjectOfPayment } from '../ids.ts'
import { unreadableDto } from '../page.ts'
import type { ProviderAttempt, StoredPayment } from '../payment/payment.ts'
import { toPaymentDto } from '../payment/payment-dto.ts'
import { ELIGIBLE_AGE_MS } from '../settlement/settlement.ts'
import { readSettlements, sweepsFrom } from '../settlement/settlement-store.ts'
import { listSuspenseAbout } from '../suspense/list-suspense.ts'
import { toSuspenseDto } from '../suspense/suspense.ts'
import { addMs, later } from '../time.ts'
import { toDeliveryDto } from '../webhook/delivery/delivery-dto.ts'
import { deliveriesOfEvent } from '../webhook/delivery/list-deliveries.ts'

/** The history for operators (design section 7). A payment in creation shows why it is stuck. */
export async function paymentTimeline(deps: ListDeps, payment: StoredPayment) {
  const found = await listEventsOf(deps, subjectOfPayment(payment.paymentId))
  // The audit reports an event that cannot be read.
  const events = found
    .flatMap((event) => event ?? [])
    .toSorted((a, b) => (a.firedAt < b.firedAt ? -1 : 1))
  // The provider may receive money before it answers the create.
  const since = payment.providerAttempts[0]?.startedAt
  const suspense = await listSuspenseAbout(deps, { paymentIds: [payment.paymentId], since })
  const { transitions = [], failureReason: failure_reason } =
    payment.status === 'creating' ? {} : payment
  return {
    ...toHeadDto(payment),
    timeline: {
      provider_attempts: payment.providerAttempts.map((attempt) => toAttemptDto(payment, attempt)),
      transitions: transitions.map((transition) => ({
        ...transition,
        ...(transition.status === 'failed' && { failure_reason }),
      })),
      events: await Promise.all(events.map((event) => toEventDto(deps, event, events.length))),
      settlements: await settlementsOf(deps, payment),
      suspense: suspense.items.map(toSuspenseDto),
      ...unreadableDto(suspense.unreadableIds),
      ...(!suspense.complete && { suspense_complete: false }),
    },
  }
}

function toHeadDto(payment: StoredPayment) {
  return payment.status === 'creating'
    ? {
        id: payment.paymentId,
        client_id: payment.clientId,
        status: payment.status,
        claimed_at: payment.claimedAt,
        lease_until: payment.leaseUntil ?? null,
        failure: payment.failure ?? null,
      }
    : {
        ...toPaymentDto(payment),
        payment_request_id: payment.paymentRequestId,
        credited_provider_payment_id: payment.capture?.providerPaymentId ?? null,
        cancel_requested_at: payment.cancelRequestedAt ?? null,
        expiry_started_at: payment.expiryStartedAt ?? null,
        next_check_at: payment.dueAt ?? null,
      }
}

function toAttemptDto(payment: StoredPayment, attempt: ProviderAttempt) {
  const { number, startedAt, outcome, code = null, paymentRequestId } = attempt
  // The attempt that created the payment has the payment's own request id.
  const ownRequestId =
    outcome === 'created' && payment.status !== 'creating' ? payment.paymentRequestId : null
  return {
    number,
    started_at: startedAt,
    outcome,
    code,
    payment_request_id: paymentRequestId ?? ownRequestId,
  }
}

async function toEventDto(
  deps: ListDeps,
  { type: event, eventId: event_id, firedAt: fired_at, clientId }: Event,
  events: number,
) {
  const shown = await deliveriesOfEvent(deps, clientId, event_id, events)
  return { event, event_id, fired_at, deliveries: shown.map(toDeliveryDto) }
}

/** A settlement can fail and be re-credited any number of times. */
const MAX_SETTLEMENTS = 20

/**
 * Oldest first: the settlement of the payment's entry, then of each re-credit and each transfer
 * that came back.
 */
async function settlementsOf(deps: TableDeps, payment: StoredPayment) {
  if (payment.status !== 'succeeded') return []
  const { clientId, paidAt, postedAt } = payment
  const settlements = []
  let at = paidAt && postedAt && later(postedAt, addMs(paidAt, ELIGIBLE_AGE_MS))
  while (at !== undefined && settlements.length < MAX_SETTLEMENTS) {
    const sweeps = await sweepsFrom(deps, clientId, { start: at, limit: 1 })
    const ids = sweeps.map(({ id }) => id)
    const { settlements: found, unreadableIds } = await readSettlements(deps, ids, clientId)
    for (const id of unreadableIds)
      settlements.push({ settlement_id: id, status: 'unreadable', settled_at: null })
    const [settlement] = found
    if (settlement === undefined || settlement.sweptFrom > at) break
    const { settlementId: settlement_id, status, settledAt: settled_at = null } = settlement
    settlements.push({ settlement_id, status, settled_at })
    at = settlement.recreditedAt ?? settlement.returnedAt
  }
  return settlements
}
