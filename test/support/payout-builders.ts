import * as v from 'valibot'
import type { Client } from '../../shared/client/client.ts'
import { type Settlement, SettlementSchema } from '../../shared/settlement/settlement.ts'
import { recordStep } from '../../shared/settlement/settlement-store.ts'
import { aClientId } from './client-builders.ts'
import { aSucceededPayment } from './paid-builders.ts'
import { aDayLater, sweep, sweptADayLater } from './settlement-builders.ts'
import type { TestDeps } from './test-deps.ts'

export const sweepADayLater = (deps: TestDeps, client: Client) => {
  aDayLater(deps)
  return sweep(deps, client)
}

/** A settlement of one payment of this amount. Its net is the amount less 4,000 and one thousandth. */
export const settled = async (deps: TestDeps, client: Client, notionalMinor: number): Promise<Settlement> => {
  await aSucceededPayment(deps, client, { notionalMinor })
  return sweptADayLater(deps, client)
}

/** A settlement in the table, as a sweep records it. The ledger is not changed. */
export const storedSettlement = async (deps: TestDeps, fields: Partial<Settlement> = {}): Promise<Settlement> => {
  const settlement = v.parse(SettlementSchema, {
    settlementId: crypto.randomUUID(),
    clientId: aClientId(),
    sweptFrom: '2026-11-19T02:00:00.000Z',
    sweptUntil: '2026-11-20T02:00:00.000Z',
    grossMinor: 300_000,
    providerFeesMinor: 12_000,
    markupMinor: 300,
    netMinor: 287_700,
    currency: 'IDR',
    paymentCount: 3,
    recreditedMinor: 0,
    unprovenMinor: 0,
    entryCount: 3,
    digest: '',
    totals: [],
    status: 'recorded',
    triggeredBy: 'auto',
    createdAt: '2026-11-20T02:00:01.000Z',
    ...fields,
  })
  await deps.table.write(recordStep(settlement))
  return settlement
}
