import type { Client } from '../../../shared/client/client.ts'
import { writeSuspense } from '../../../shared/suspense/suspense-store.ts'
import { suspenseKey } from '../../../shared/table/keys.ts'
import { someHeldMoney } from '../../support/money-rows.ts'
import { alter } from '../../support/tampering.ts'
import type { TestDeps } from '../../support/test-deps.ts'

/** Money that suspense holds for a client; its amount is no more what the register says. */
export async function halvedSuspense(deps: TestDeps, { clientId }: Pick<Client, 'clientId'>) {
  const about = { cause: 'second_capture', payment: { paymentId: undefined, clientId } } as const
  const item = someHeldMoney(deps, `py-${clientId}`, 8_000, about)
  await writeSuspense(deps, item)
  await alter(deps, suspenseKey(item.suspenseId), { amount_minor: 4_000 })
  return item
}
