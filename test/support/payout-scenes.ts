import type { Client } from '../../shared/client/client.ts'
import { minor } from '../../shared/money.ts'
import {
  markSettlementFailed,
  markSettlementPaid,
  recreditSettlement,
} from '../../shared/settlement/close-settlement.ts'
import { getBalanceWithPayouts } from '../../shared/settlement/count-payouts.ts'
import { settleClient } from '../../shared/settlement/settle-client.ts'
import type { Settlement } from '../../shared/settlement/settlement.ts'
import { queriesIn, type TableCall } from './intercept-table.ts'
import { aStoredClient } from './payment-builders.ts'
import { aDayLater, aSucceededPayment } from './settlement-builders.ts'
import type { TestDeps } from './test-deps.ts'

const OPERATOR = { operator: 'sari', notes: 'as told by the bank' }

export const payOut = (deps: TestDeps, { settlementId }: Settlement) =>
  markSettlementPaid(deps, { settlementId, ...OPERATOR, confirmUnfunded: true })
export const fail = (deps: TestDeps, { settlementId }: Settlement) =>
  markSettlementFailed(deps, { settlementId, ...OPERATOR })
export const recredit = (deps: TestDeps, { settlementId }: Settlement) =>
  recreditSettlement(deps, { settlementId, ...OPERATOR })

export const sweep = async (deps: TestDeps, { clientId }: Client) =>
  (await settleClient(deps, clientId, { by: 'auto' })).settlements

export const sweepADayLater = (deps: TestDeps, client: Client) => {
  aDayLater(deps)
  return sweep(deps, client)
}

/** A settlement of one payment of this amount; its net is 4,000 and a thousandth less. */
export const settled = async (deps: TestDeps, client: Client, notionalMinor: number): Promise<Settlement> => {
  await aSucceededPayment(deps, client, { notionalMinor })
  aDayLater(deps)
  const settlement = (await sweep(deps, client)).at(-1)
  if (settlement === undefined) throw new Error('nothing was settled')
  return settlement
}

/** Settlements of one client in every state there is, and money that is not settled yet. */
export const aClientOfAllStates = async (deps: TestDeps) => {
  const client = await aStoredClient(deps, { settlementFloorMinor: minor(0) })
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
  const { updatedAt: _, ...figures } = await getBalanceWithPayouts(deps, clientId)
  return figures
}

/** All of it together: what was credited. */
export const sumOf = (figures: Readonly<Record<string, number>>): number =>
  Object.values(figures).reduce((total, figure) => total + figure, 0)

/** How often recorded calls asked the index for a client's settlements. */
export const indexReads = (calls: readonly TableCall[]): number =>
  queriesIn(calls).filter(({ index }) => index === 'by-owner').length
