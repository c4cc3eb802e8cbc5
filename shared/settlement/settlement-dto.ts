import { periodOf, type Settlement } from './settlement.ts'
import type { SettlementDto } from './settlement-dto-schema.ts'

/** The settlement object (spec 2.3): null for a missing value. */
export function toSettlementDto(
  settlement: Settlement,
): Omit<SettlementDto, 'bank_reference' | 'batch'> {
  const { start, end } = periodOf(settlement)
  return {
    id: settlement.settlementId,
    client_id: settlement.clientId,
    period_start: start,
    period_end: end,
    gross_minor: settlement.grossMinor,
    xendit_fees_minor: settlement.feeMinor,
    hexolus_markup_minor: settlement.markupMinor,
    net_minor: settlement.netMinor,
    currency: settlement.currency,
    payment_count: settlement.paymentCount,
    status: settlement.status,
    triggered_by: settlement.triggeredBy,
    bank_name: settlement.bank?.bankName ?? null,
    bank_account_no: settlement.bank?.bankAccountNo ?? null,
    bank_account_name: settlement.bank?.bankAccountName ?? null,
    notes: settlement.notes ?? null,
    settled_at: settlement.settledAt ?? null,
    created_at: settlement.createdAt,
  }
}

/** How a merchant finds the payout on its bank statement. */
export function toPayoutDto({ bankReference, batch }: Settlement) {
  return { bank_reference: bankReference ?? null, batch: batch ?? null }
}

/** Operators also see the settlement's later state, and a warning about its payout. */
export function toOperatorSettlement(settlement: Settlement) {
  return {
    ...toSettlementDto(settlement),
    recredited_at: settlement.recreditedAt ?? null,
    returned_at: settlement.returnedAt ?? null,
    unproven_minor: settlement.unprovenMinor,
    entry_count: settlement.entryCount,
    ...toPayoutDto(settlement),
    bank_since: settlement.bank?.since ?? null,
    warning: settlement.status === 'recorded' ? warningOf(settlement) : null,
  }
}

function warningOf({ bank }: Settlement) {
  if (bank === undefined) return `no bank details: it cannot be paid out. ${REGISTER_BANK}`
  return bank.isChange
    ? `bank details were entered on ${bank.since}. Until a payout to this account stands, mark-settlement-paid needs an approval (new_bank).`
    : null
}

/** A settlement keeps the details of its recording, so only a new settlement has new details. */
export const REGISTER_BANK =
  'Register them with update-client. Then mark-settlement-failed and recredit-settlement bring ' +
  'the money into the next settlement.'
