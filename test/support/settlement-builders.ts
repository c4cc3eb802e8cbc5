import * as v from 'valibot'
import { expect } from 'vitest'
import { handler as auditWorker } from '../../functions/queue/audit-client.ts'
import { auditClient } from '../../shared/audit/audit-client.ts'
import type { Client } from '../../shared/client/client.ts'
import { ZERO } from '../../shared/money.ts'
import { markSettlementFailed } from '../../shared/payout/mark-settlement-failed.ts'
import { markSettlementPaid } from '../../shared/payout/mark-settlement-paid.ts'
import { recreditSettlement } from '../../shared/settlement/recredit-settlement.ts'
import { returnPayout } from '../../shared/settlement/return-payout.ts'
import { settleClient, triggerSettlement } from '../../shared/settlement/settle-client.ts'
import { type Settlement, SettlementSchema } from '../../shared/settlement/settlement.ts'
import {
  findAnySettlement,
  listSettlements,
  putSettlement,
} from '../../shared/settlement/settlement-store.ts'
import { HISTORY_STEPS } from '../../shared/stage-settings.ts'
import { GATEWAY_OWNER } from '../../shared/table/schema.ts'
import { addMs, DAY_MS, later, MINUTE_MS, TimestampSchema } from '../../shared/time.ts'
import { readVerdict, recordDifferences } from '../../shared/verdict/verdict-store.ts'
import { aSucceededPayment, type SucceededFields } from './paid-builders.ts'
import { aClientId, aStoredClient } from './payment-builders.ts'
import { type MemoryDeps, memoryDeps, type TestDeps } from './test-deps.ts'
import { withApproval } from './with-approval.ts'

export const ENTRIES_HEADER =
  'id,type,payment_id,recredited_settlement_id,settlement_id,external_reference,method,channel_code,paid_at,posted_at,eligible_at,notional_minor,xendit_fee_minor,hexolus_markup_minor,client_net_minor,carried_minor,returned_settlement_id'

export const BANK = {
  bankName: 'BCA',
  bankAccountNo: '0012345678',
  bankAccountName: 'PT Warung Kopi Satu',
  since: v.parse(TimestampSchema, '2026-11-01T02:00:00.000Z'),
}

/** Payments that were paid until now can then be settled. */
export function aDayLater(deps: TestDeps) {
  deps.clock.pass(DAY_MS)
}

export function withoutFloor(deps: TestDeps, fields: Partial<Client> = {}) {
  return aStoredClient(deps, { settlementFloorMinor: ZERO, bank: BANK, ...fields })
}

/** Its table has nothing else. */
export async function aLoneClient() {
  const deps = memoryDeps()
  return { deps, client: await withoutFloor(deps) }
}

/** A lone client with a posted payment. */
export async function aLonePayment() {
  const { deps, client } = await aLoneClient()
  return { deps, client, payment: await aSucceededPayment(deps, client) }
}

export function inSteps(
  deps: TestDeps,
  rows = 1,
  pages = 1,
  block = 1,
  atOnce = HISTORY_STEPS.atOnce,
) {
  return { ...deps, stage: { ...deps.stage, historySteps: { rows, pages, block, atOnce } } }
}

type OfClient = Pick<Client, 'clientId'>

export function settle(deps: TestDeps, { clientId }: OfClient) {
  return settleClient(deps, clientId, {})
}

export async function sweep(deps: TestDeps, client: OfClient) {
  return (await settle(deps, client)).settlement
}

export async function sweptNow(deps: TestDeps, client: OfClient) {
  const settlement = await sweep(deps, client)
  if (!settlement) throw new Error('nothing was settled')
  return settlement
}

export function sweptADayLater(deps: TestDeps, client: OfClient) {
  aDayLater(deps)
  return sweptNow(deps, client)
}

/** The settlement has one payment by default, 95,900 net. */
export async function aSettledClient<Deps extends TestDeps = MemoryDeps>(
  deps = memoryDeps() as TestDeps as Deps,
  payments: readonly SucceededFields[] = [{}],
) {
  const client = await withoutFloor(deps)
  for (const payment of payments) await aSucceededPayment(deps, client, payment)
  return { deps, client, settlement: await sweptADayLater(deps, client) }
}

export const BY_OPERATOR = { operator: 'sari@gateway.example', notes: 'as reported by the bank' }

export async function trigger(deps: TestDeps, { clientId }: OfClient) {
  return (await triggerSettlement(deps, { clientId, operator: BY_OPERATOR.operator })).settlement
}

export async function settlementsOf(deps: TestDeps, { clientId }: OfClient) {
  return (await listSettlements(deps, clientId, { page: 1, perPage: 100 })).rows
}

type Known = Pick<Settlement, 'settlementId'>

/**
 * A minute after the record, and after the daily audits. The gateway's own audit is only noted:
 * in a table that test files share it would close the days of the house for all of them.
 */
export async function auditedNow(deps: TestDeps, { settlementId }: Known) {
  const { clientId, createdAt } = await findAnySettlement(deps, settlementId)
  deps.clock.set(later(deps.now(), addMs(createdAt, MINUTE_MS)))
  await recordDifferences(deps, GATEWAY_OWNER, new Map(), { figuresAt: deps.now() })
  await auditClient(withoutSleep(deps), clientId)
}

/** Hands over an audit's message, and each message that continues it. Answers how many. */
export async function runAudit(deps: TestDeps, message: object, afterRun?: () => unknown) {
  let body: object | undefined = message
  let runs = 0
  for (; body; runs++) {
    expect(runs).toBeLessThan(999)
    const { length } = deps.sent
    const Records = [{ body: JSON.stringify(body) }]
    expect(await auditWorker.withDeps(deps)({ Records } as never, {} as never)).toStrictEqual({
      batchItemFailures: [],
    })
    await afterRun?.()
    body = deps.sent[length]?.message.body
  }
  return runs
}

/** The differences that the last audits left standing. */
export async function standingOf(deps: TestDeps, { clientId }: { readonly clientId: string }) {
  return (await readVerdict(deps, clientId)).standing
}

export function withoutSleep(deps: TestDeps) {
  return { ...deps, sleep: async () => undefined }
}

/** A second person approves the figures of the payout. */
export async function payOut(
  deps: TestDeps,
  { settlementId }: Known,
  approves?: Parameters<typeof withApproval>[2],
) {
  await auditedNow(deps, { settlementId })
  const order = { settlementId, ...BY_OPERATOR, bankReference: `BCA ${settlementId}` }
  return withApproval(deps, () => markSettlementPaid(deps, order), approves)
}
export function fail(deps: TestDeps, { settlementId }: Known) {
  return markSettlementFailed(deps, { settlementId, ...BY_OPERATOR })
}
export function recredit(deps: TestDeps, { settlementId }: Known) {
  return withApproval(deps, () => recreditSettlement(deps, { settlementId, ...BY_OPERATOR }))
}
/** The bank sends the money of a payout back. */
export function bringBack(deps: TestDeps, { settlementId }: Known, bankReference = 'BACK') {
  return withApproval(deps, () =>
    returnPayout(deps, { settlementId, ...BY_OPERATOR, bankReference }),
  )
}

export function sweepADayLater(deps: TestDeps, client: Client) {
  aDayLater(deps)
  return sweep(deps, client)
}

/** The net is the amount less 4,000 and one thousandth. */
export async function settledAmount(deps: TestDeps, client: Client, notionalMinor = 100_000) {
  await aSucceededPayment(deps, client, { notionalMinor })
  return sweptADayLater(deps, client)
}

/** The ledger is not changed. */
export async function storedSettlement(deps: TestDeps, fields: Partial<Settlement>) {
  const settlement = v.parse(SettlementSchema, {
    settlementId: crypto.randomUUID(),
    clientId: aClientId(),
    sweptFrom: '2026-11-19T02:00:00.000Z',
    sweptUntil: '2026-11-20T02:00:00.000Z',
    grossMinor: 300_000,
    feeMinor: 12_000,
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
  await deps.table.write(putSettlement(settlement))
  return settlement
}
