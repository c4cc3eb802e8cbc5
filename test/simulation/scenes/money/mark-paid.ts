import { meet } from '../../sometimes/meet.ts'
import { operate } from '../../world/lambda.ts'
import type { World } from '../../world/world.ts'

/**
 * An operator pays a settlement out, and repeats it with the figures that the refusal shows. Other refusals are left: a
 * later payout begins anew.
 */
export const markPaid = async (world: World, settlementId: string): Promise<void> => {
  const asked = { operator: 'sim', settlement_id: settlementId, bank_reference: `BCA ${settlementId}` }
  const refused = await operate(world, 'mark-settlement-paid', asked)
  const confirm = refused?.body['confirm']
  if (confirm === undefined) return
  if (Object(confirm).new_bank === true) meet(world, 'a payout is stopped by new bank details')
  await operate(world, 'mark-settlement-paid', { ...asked, confirm })
}
