import { expect } from 'vitest'
import { auditLedger } from '../../../shared/audit/run-audits.ts'
import type { Client } from '../../../shared/client/client.ts'
import type { Payment } from '../../../shared/payment/payment.ts'
import { recountLedger } from '../../../shared/recount/recount-ledger.ts'
import { eventKey } from '../../../shared/table/keys.ts'
import { exists, remove } from '../../../shared/table/step.ts'
import type { Difference } from '../../../shared/verdict/difference.ts'
import type { MemoryDeps, TestDeps } from '../../support/test-deps.ts'

export const differencesOf = async (deps: TestDeps, { clientId }: Client): Promise<readonly Difference[]> =>
  (await auditLedger(deps, clientId)).differences

/** Recounts these differences; unless they are given, all that the audit shows. */
export const recount = async (deps: TestDeps, client: Client, given?: readonly Difference[]) => {
  const expected = given ?? (await differencesOf(deps, client))
  if (expected.length === 0) return { written: [], left: [] }
  return recountLedger(deps, { clientId: client.clientId, expected, operator: 'ana' })
}

/** The recount refuses these differences, or all that the audit shows, and writes nothing. */
export const expectRefused = async (deps: MemoryDeps, client: Client, refusal: object, of?: readonly Difference[]) => {
  const expected = of ?? (await differencesOf(deps, client))
  deps.changes.length = 0

  await expect(recount(deps, client, expected)).rejects.toMatchObject(refusal)

  expect(deps.changes).toStrictEqual([])
}

export const removeEvent = (deps: MemoryDeps, _: Client, { paymentId }: Payment) =>
  deps.table.write(remove(eventKey(paymentId, 'payment.succeeded'), exists))
