import { adminHandler, TRANSFER } from '../../shared/runtime/admin-handler.ts'
import { returnPayout } from '../../shared/settlement/return-payout.ts'

export const handler = adminHandler(
  {
    summary:
      'Books a transfer that came back after its settlement was marked paid, once. The ' +
      'settlement stays paid; the next settlement pays its net again. It needs an approval.',
    input: TRANSFER,
    hasDryRun: true,
  },
  returnPayout,
)
