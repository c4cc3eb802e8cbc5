import * as v from 'valibot'
import type { Client } from '../../shared/client/client.ts'
import { getBalance } from '../../shared/ledger/balance.ts'
import { type Settlement, SettlementSchema } from '../../shared/settlement/settlement.ts'
import { recordStep } from '../../shared/settlement/settlement-store.ts'
import { aClientId } from './client-builders.ts'
import { aSucceededPayment } from './paid-builders.ts'
import { aDayLater, fail, payOut, recredit, sweep, sweptNow, withFloor } from './settlement-builders.ts'
import type { TestDeps } from './test-deps.ts'

export const sweepADayLater = (deps: TestDeps, client: Client) => {
  aDayLater(deps)
  return sweep(deps, client)
}

/** A settlement of one payment of this amount; its net is 4,000 and a thousandth less. */
export const settled = async (deps: TestDeps, client: Client, notionalMinor: number): Promise<Settlement> => {
  await aSucceededPayment(deps, client, { notionalMinor })
  aDayLater(deps)
  return sweptNow(deps, client)
}

/** Settlements of one client in every state there is, and money that is not settled yet. */
export const aClientOfAllStates = async (deps: TestDeps) => {
  const client = await withFloor(deps)
  const paidOut = await settled(deps, client, 10_000)
  const replaced = await settled(deps, client, 20_000)
  const failed = await settled(deps, client, 40_000)
  const waiting = await settled(deps, client, 80_000)
  await payOut(deps, paidOut)
  for (const settlement of [replaced, failed, waiting]) await fail(deps, settlement)
  await recredit(deps, replaced)
  const recorded = await settled(deps, client, 160_000)
  await recredit(deps, waiting)
  await aSucceededPayment(deps, client, { notionalMinor: 320_000 })
  return { client, paidOut, replaced, failed, waiting, recorded }
}

export type AllStates = Awaited<ReturnType<typeof aClientOfAllStates>>

const netOf = (notionalMinor: number) => notionalMinor - 4_000 - notionalMinor / 1_000

/** What the balance must show of them. */
export const FIGURES_OF_ALL_STATES = {
  pendingMinor: netOf(320_000),
  availableMinor: netOf(80_000),
  // Recorded again, failed, recorded.
  inSettlementMinor: netOf(20_000) + netOf(40_000) + netOf(160_000),
  paidOutMinor: netOf(10_000),
}

/** The figures alone, as plain numbers. */
export const figuresOf = async (deps: TestDeps, { clientId }: Client) => {
  const { updatedAt: _, ...figures } = await getBalance(deps, clientId)
  return figures
}

/** All of it together: what was credited. */
export const sumOf = (figures: Readonly<Record<string, number>>): number =>
  Object.values(figures).reduce((total, figure) => total + figure, 0)

/** A settlement in the table, as a sweep records it, whatever the ledger says. */
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
