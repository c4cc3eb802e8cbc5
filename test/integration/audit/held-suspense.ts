import type { Client } from '../../../shared/client/client.ts'
import { minor } from '../../../shared/money.ts'
import { heldMoney } from '../../../shared/suspense/record-suspense.ts'
import { writeSuspense } from '../../../shared/suspense/suspense-store.ts'
import { suspenseKey } from '../../../shared/table/keys.ts'
import { exists, update } from '../../../shared/table/step.ts'
import type { TestDeps } from '../../support/test-deps.ts'

/** Money that suspense holds for a client; its amount is no more what the register says. */
export async function halvedSuspense(deps: TestDeps, { clientId }: Pick<Client, 'clientId'>) {
  const capture = { providerPaymentId: `py-${clientId}`, capturedMinor: minor(8_000) }
  const payment = { paymentId: undefined, clientId }
  const item = heldMoney({ capture, cause: 'second_capture', payment, now: deps.now() })
  await writeSuspense(deps, item)
  const set = { amountMinor: minor(4_000) }
  await deps.table.write(update(suspenseKey(item.suspenseId), { set }, exists))
  return item
}
