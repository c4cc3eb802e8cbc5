import type { Client } from '../../../shared/client/client.ts'
import { minor } from '../../../shared/money.ts'
import { adjustLedger } from '../../../shared/posting/adjust-ledger.ts'
import type { TestDeps } from '../../support/test-deps.ts'

/** The house gives up what a client owes. */
export const writeOff = async (
  deps: TestDeps,
  { clientId }: Pick<Client, 'clientId'>,
  amountMinor: number,
): Promise<void> => {
  await adjustLedger(deps, {
    clientId,
    kind: 'written_off',
    amountMinor: minor(amountMinor),
    reference: deps.newId(),
    providerTransactionId: undefined,
    notes: undefined,
    operator: 'ana',
  })
}
