import { expect } from 'vitest'
import { auditLedger } from '../../shared/audit/audit-ledger.ts'
import { clientBooks } from '../../shared/books/client-books.ts'
import { findClient } from '../../shared/client/client-store.ts'
import type { Deps } from '../../shared/deps.ts'
import type { ClientId } from '../../shared/ids.ts'

/**
 * The full audit of a client's books finds nothing, and what they say from each of their sources is the same. The last
 * line of every test that moves money.
 */
export const expectBalanced = async (deps: Deps, clientId: ClientId): Promise<void> => {
  expect(await auditLedger(deps, clientId, { full: true })).toStrictEqual({ balanced: true, differences: [] })
  const client = await findClient(deps, clientId)
  const books = client && (await clientBooks(deps, client, () => false))
  expect(books?.figures).toMatchObject({ credited_difference: 0, settled_difference: 0 })
}
