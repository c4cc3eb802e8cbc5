import type { ClientId } from '../ids.ts'
import type { BalanceDto } from './balance-dto-schema.ts'
import type { Balance } from './ledger-store.ts'

/** The balance object (spec 2.2), with the figures of settlements if the caller asks for them. */
export function toBalanceDto(
  clientId: ClientId,
  { availableMinor, pendingMinor, inSettlementMinor, paidOutMinor, updatedAt }: Balance,
  include: { readonly settlements: boolean },
): BalanceDto {
  return {
    client_id: clientId,
    currency: 'IDR',
    available_minor: availableMinor,
    pending_minor: pendingMinor,
    ...(include.settlements && {
      in_settlement_minor: inSettlementMinor,
      paid_out_minor: paidOutMinor,
    }),
    updated_at: updatedAt ?? null,
  }
}
