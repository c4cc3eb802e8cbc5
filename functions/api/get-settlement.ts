import * as v from 'valibot'
import { apiHandler, ok } from '../../shared/runtime/api-handler.ts'
import { toPayoutDto, toSettlementDto } from '../../shared/settlement/settlement-dto.ts'
import { findSettlement } from '../../shared/settlement/settlement-store.ts'

const query = v.object({
  /** Adds the transfer: its reference at the bank, and its batch. */
  include: v.optional(v.literal('payout', 'include must be payout')),
})

/** GET /v1/settlements/{id} (spec 4.7). */
export const handler = apiHandler({ query }, async ({ clientId, id, query: { include } }, deps) => {
  const settlement = await findSettlement(deps, clientId, id)
  return ok({ ...toSettlementDto(settlement), ...(include && toPayoutDto(settlement)) })
})
