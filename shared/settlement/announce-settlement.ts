import type { SettlementEventType } from '../event/event.ts'
import { requireNoEvent } from '../event/event-store.ts'
import { subjectOfSettlement } from '../ids.ts'
import type { Timestamp } from '../time.ts'
import { type AnnounceDeps, announce } from '../webhook/delivery/announce.ts'
import type { Settlement } from './settlement.ts'
import { toSettlementDto } from './settlement-dto.ts'
import type { SettlementData } from './settlement-dto-schema.ts'

const EVENT_OF_STATUS = {
  recorded: 'settlement.recorded',
  manual_paid: 'settlement.paid',
  failed: 'settlement.failed',
} as const satisfies Readonly<Record<Settlement['status'], SettlementEventType>>

export function settlementEventOf({ status }: Pick<Settlement, 'status'>) {
  return EVENT_OF_STATUS[status]
}

/** Announces the settlement's record or its end, once each (design section 8). */
export function announcementOfSettlement(
  deps: AnnounceDeps,
  settlement: Settlement,
  firedAt: Timestamp,
) {
  const { settlementId, clientId } = settlement
  return announce(deps, {
    name: settlementEventOf(settlement),
    subject: subjectOfSettlement(settlementId),
    clientId,
    data: toSettlementData(settlement),
    firedAt,
  })
}

/** Refused when the settlement was announced with the other end. */
export function requireNotEnded({ settlementId, status }: Settlement) {
  const name = EVENT_OF_STATUS[status === 'failed' ? 'manual_paid' : 'failed']
  return requireNoEvent({ subject: subjectOfSettlement(settlementId), name })
}

/** The `data` of a settlement's events: the settlement, and once it is paid its transfer. */
export function toSettlementData(settlement: Settlement): SettlementData {
  const { bankReference: bank_reference } = settlement
  return { ...toSettlementDto(settlement), ...(bank_reference && { bank_reference }) }
}
