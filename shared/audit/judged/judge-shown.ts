import { isDeepStrictEqual } from 'node:util'
import type { TableDeps } from '../../deps.ts'
import { ifValid } from '../../if-valid.ts'
import type { Payment } from '../../payment/payment.ts'
import { shownDispute } from '../../suspense/dispute.ts'
import { SuspenseSchema } from '../../suspense/suspense.ts'
import { suspenseKey } from '../../table/keys.ts'
import type { Reads } from '../../table/table.ts'
import { compare, onlyIf } from '../../verdict/difference.ts'
import type { PaymentDifferences } from './judge-deliveries.ts'

/** A payment shows its dispute as the case says it. */
export async function judgeDisputes(
  deps: TableDeps,
  payments: readonly Payment[],
  reads: Reads,
): Promise<readonly PaymentDifferences[]> {
  const shown = payments.flatMap(({ paymentId, dispute }) =>
    dispute ? [{ paymentId, dispute }] : [],
  )
  const keys = shown.map(({ dispute }) => suspenseKey(dispute.caseId))
  const items = await deps.table.getMany(keys, reads)
  return shown.map(({ paymentId, dispute }, at) => {
    const item = ifValid(SuspenseSchema, items[at])
    const isSame = item !== undefined && isDeepStrictEqual(shownDispute(item), dispute)
    const said = onlyIf(!isSame, compare('payment.dispute', paymentId, 'as its case', 'different'))
    return { paymentId, differences: said }
  })
}
