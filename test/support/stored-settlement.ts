import * as v from 'valibot'
import { type Settlement, SettlementSchema } from '../../shared/settlement/settlement.ts'
import { recordStep } from '../../shared/settlement/settlement-store.ts'
import { aClientId } from './client-builders.ts'
import type { TestDeps } from './test-deps.ts'

/** A settlement in the table, as a sweep records it, whatever the ledger says. */
export const storedSettlement = async (deps: TestDeps, fields: Partial<Settlement> = {}): Promise<Settlement> => {
  const settlement = v.parse(SettlementSchema, {
    settlementId: crypto.randomUUID(),
    clientId: aClientId(),
    periodStart: '2026-11-18T02:00:00.000Z',
    periodEnd: '2026-11-19T02:00:00.000Z',
    grossMinor: 300_000,
    providerFeesMinor: 12_000,
    markupMinor: 300,
    netMinor: 287_700,
    currency: 'IDR',
    paymentCount: 3,
    status: 'recorded',
    triggeredBy: 'auto',
    createdAt: '2026-11-20T02:00:01.000Z',
    ...fields,
  })
  await deps.table.write(recordStep(settlement))
  return settlement
}
