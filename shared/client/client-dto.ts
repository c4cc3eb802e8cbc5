import { toItem } from '../table/attributes.ts'
import type { Client } from './client.ts'

export function toClientDto(client: Client) {
  const { since, isChange = false, ...account } = client.bank ?? {}
  return {
    client_id: client.clientId,
    name: client.name,
    enabled: client.enabled,
    settlement_floor_minor: client.settlementFloorMinor,
    bank: client.bank ? toItem(account) : null,
    /** Since when this account is in force, and whether it replaced another account. */
    bank_since: since ?? null,
    bank_is_change: isChange,
    /** Bank details were removed, so the next details are a change. */
    had_bank: client.hadBank ?? false,
    return_url: client.returnUrl ?? null,
    rate_limit_per_second: client.rateLimitPerSecond ?? null,
    payout_hold: client.payoutHold ?? null,
    created_at: client.createdAt,
  }
}
