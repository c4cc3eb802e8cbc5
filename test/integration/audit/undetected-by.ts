import { expect } from 'vitest'
import { auditLedger } from '../../../shared/audit/run-audits.ts'
import type { ClientId } from '../../../shared/ids.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { putRaw, rawItem, type Tampering } from '../../support/tampering.ts'
import type { TestDeps } from '../../support/test-deps.ts'

/** Moves an item into another list: its shard or window misses it, and is what can be named. */
const HIDES = /^(owner|entity|listed_at|id|client_id|payment_id|open_at)\b/

type Search = { readonly tamperings: readonly Tampering[]; readonly ids: readonly string[] }

/** Of these tamperings the ones that an audit of the whole client does not see, or sees without naming one of `ids`. */
export const undetectedBy = async (
  deps: TestDeps,
  clientId: ClientId,
  { tamperings, ids }: Search,
): Promise<readonly string[]> => {
  const missed: string[] = []
  for (const { name, item } of tamperings) {
    const { pk, sk } = item
    const before = await rawItem(deps, { pk: String(pk), sk: String(sk) })
    await putRaw(deps, item)
    try {
      const { balanced, differences } = await auditLedger({ ...deps, sleep: async () => {} }, clientId)
      const isNamed = differences.some(({ id }) => ids.includes(id)) || (HIDES.test(name) && differences.length > 0)
      if (balanced !== false || !isNamed) missed.push(`${name}: ${String(balanced)} ${JSON.stringify(differences)}`)
    } catch (error) {
      missed.push(`${name}: ${String(error)}`)
    } finally {
      await putRaw(deps, before)
    }
  }
  expect(tamperings.length).toBeGreaterThan(1)
  await expectBalanced(deps, clientId)
  return missed
}
