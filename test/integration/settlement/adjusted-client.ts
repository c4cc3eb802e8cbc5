import { handler as adjust } from '../../../functions/admin/adjust-ledger.ts'
import type { ClientId } from '../../../shared/ids.ts'
import { newHouseEntry } from '../../../shared/journal/house-entry.ts'
import { putHouseEntry } from '../../../shared/journal/house-store.ts'
import { readEntries } from '../../../shared/journal/read-entries.ts'
import { getBalance } from '../../../shared/ledger/balance.ts'
import { minor } from '../../../shared/money.ts'
import { addMs, DAY_MS, type Timestamp } from '../../../shared/time.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { invokeAdmin, OPERATOR } from '../../support/operator-actions.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'

type Fields = Readonly<Record<string, unknown>>

/** A merchant, and an operator who adjusts its balance. */
export const aWorld = async () => {
  const deps = memoryDeps()
  const { clientId } = await aStoredClient(deps, { settlementFloorMinor: minor(0) })
  deps.clock.advance(60)
  const adjusted = (fields: Fields = {}, on: TestDeps = deps) =>
    invokeAdmin(adjust, on, {
      operator: OPERATOR,
      client_id: clientId,
      kind: 'recovered',
      amount_minor: 25_000,
      reference: 'BANK-1',
      ...fields,
    })
  return { deps, clientId, adjusted }
}

export const entriesOf = async (deps: TestDeps, clientId: ClientId) => {
  const span = { start: addMs(deps.now(), -30 * DAY_MS), end: addMs(deps.now(), 30 * DAY_MS) }
  return (await readEntries(deps, { clientId, parts: 1, span, limit: 100 }, () => true)).entries
}

export const pendingOf = async (deps: TestDeps, clientId: ClientId) => (await getBalance(deps, clientId)).pendingMinor

/** A row of the provider that belongs to no client, as the sync books it. */
export const anUnclaimedRow = async (
  deps: TestDeps,
  { rowAt, type = 'unmatched' }: { rowAt: Timestamp; type?: 'unmatched' | 'withdrawal' },
) => {
  const row = { transactionId: 'txn-1', rowAt, providerMinor: minor(-30_000) }
  await deps.table.transact(putHouseEntry(newHouseEntry({ ...row, type, postedAt: deps.now() })))
}

export const correction = { kind: 'correction', amount_minor: -25_000, provider_transaction_id: 'txn-1' }
