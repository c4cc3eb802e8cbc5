import { auditGateway } from '../../shared/audit/audit-gateway.ts'
import type { Client } from '../../shared/client/client.ts'
import type { Deps } from '../../shared/deps.ts'
import { getBalance } from '../../shared/ledger/ledger-store.ts'
import { listPayments, paymentsOfReference } from '../../shared/payment/list-payments.ts'
import { markSettlementPaid } from '../../shared/payout/mark-settlement-paid.ts'
import { settleClient } from '../../shared/settlement/settle-client.ts'
import type { Settlement } from '../../shared/settlement/settlement.ts'
import { listSettlements } from '../../shared/settlement/settlement-store.ts'
import {
  settlementEntries,
  settlementStatement,
} from '../../shared/settlement/statement/settlement-entries.ts'
import { addMs, DAY_MS, HOUR_MS, MINUTE_MS, type Timestamp } from '../../shared/time.ts'
import { markdownTable } from '../support/markdown-table.ts'
import { storePosted, succeededPayment } from '../support/paid-builders.ts'
import { runAudit, withoutFloor } from '../support/settlement-builders.ts'
import type { TestDeps } from '../support/test-deps.ts'
import { meteredDeps, type Units } from './meter-table.ts'

/**
 * `constant`: the action costs the same at any number of payments, within the page that it reads
 * anyway.
 */
type Cost = Units & { readonly action: string; readonly constant: boolean }

/** Every size gets the same new day on top of its history. */
const NEW_PAYMENTS = 100
const REFERENCE = 'order-1'

type Growth = Awaited<ReturnType<typeof measureGrowth>>

/** Times are left out: a table in memory says nothing about DynamoDB's. */
export async function growthReport(sizes: readonly number[] = [100, 10_000, 30_000]) {
  const measured: Growth[] = []
  for (const payments of sizes) measured.push(await measureGrowth(payments))
  const heading = [
    'Action',
    ...measured.map(({ payments }) => `${payments.toLocaleString('en')} payments`),
  ]
  const cell = (cost?: Cost) =>
    cost ? `${rounded(cost.reads)} read, ${rounded(cost.writes)} written` : ''
  const actions = measured[0]?.costs.map(({ action }) => action) ?? []
  const rows = actions.map((action, at) => [
    action,
    ...measured.map(({ costs }) => cell(costs[at])),
  ])
  return { text: markdownTable(heading, rows), failures: failuresIn(measured) }
}

async function measureGrowth(payments: number) {
  const { deps, meter } = meteredDeps()
  const client = await withoutFloor(deps)
  const { clientId } = client
  await makePayments(deps, client, payments, deps.now())
  const passTime = (ms: number) => deps.clock.pass(ms)
  passTime(payments + DAY_MS + MINUTE_MS)
  const costs: Cost[] = []
  const measure = async (action: string, run: () => Promise<unknown>, constant = false) => {
    meter.take()
    await run()
    const { reads, writes } = meter.take()
    costs.push({ action, constant, reads, writes })
  }
  const measureConstant = (action: string, run: () => Promise<unknown>) =>
    measure(action, run, true)
  const audit = () => runAudit(deps, { client_id: clientId })
  const settle = () => settleClient(deps, clientId, {})

  await measure('settle a window of all of them', settle)
  const newest = await listSettlements(deps, clientId, { page: 1, perPage: 1 })
  const [settlement] = newest.rows
  if (settlement === undefined) throw new Error('nothing was settled')
  const { settlementId } = settlement
  await measureConstant('balance', () => getBalance(deps, clientId))
  await measureConstant('list, first page', () =>
    listPayments(deps, { clientId, status: undefined, page: { page: 1, perPage: 25 } }),
  )
  await measureConstant('list of settlements', () =>
    listSettlements(deps, clientId, { page: 1, perPage: 25 }),
  )
  const statement = async (cursor?: string) =>
    (await settlementStatement(deps, { settlementId, cursor, format: 'json' })).cursor
  await measureConstant('statement, first page', () => statement())
  await measure('statement, every page', () => everyPage(statement))
  const pages: Units[] = []
  meter.take()
  await readWholeList(deps, settlement, () => void pages.push(meter.take()))
  const { reads, writes } = pages.reduce((most, units) => (units.reads > most.reads ? units : most))
  costs.push({
    action: 'payments of a settlement, a hundred: the dearest page of all',
    constant: true,
    reads,
    writes,
  })
  const found = {
    clientId,
    reference: REFERENCE,
    status: undefined,
    page: { page: 1, perPage: 25 },
  }
  await measureConstant('payment by external_reference', () => paymentsOfReference(deps, found))
  const paid = {
    settlementId,
    operator: 'bench',
    bankReference: 'bench',
    notes: undefined,
    confirm: {},
  }
  passTime(MINUTE_MS)
  await auditGateway(deps)
  await measure('audit of a long settlement, before it may be paid', audit)
  await measure('mark paid', () => markSettlementPaid(deps, paid))
  await measure('audit of all of them, the first', audit)
  await makePayments(deps, client, NEW_PAYMENTS, deps.now())
  passTime(DAY_MS + HOUR_MS)
  await measureConstant(`settle ${NEW_PAYMENTS} more`, settle)
  await measure('audits of the thirty days after that', async () => {
    for (let day = 0; day < 30; day++) {
      passTime(DAY_MS)
      await audit()
    }
  })
  return { payments, costs }
}

/** Payments that were paid a millisecond apart and posted by their settled rows. */
async function makePayments(deps: TestDeps, client: Client, count: number, from: Timestamp) {
  for (let at = 0; at < count; at += 5_000) {
    const some = Array.from({ length: Math.min(5_000, count - at) }, (_, index) => {
      const paidAt = addMs(from, at + index)
      const named = at + index === 0 && { externalReference: REFERENCE }
      return succeededPayment(client, { paidAt, notionalMinor: 10_000 + (index % 1_000), ...named })
    })
    await storePosted(deps, some)
  }
}

async function everyPage(read: (cursor: string | undefined) => Promise<string | null | undefined>) {
  let cursor: string | undefined
  do cursor = (await read(cursor)) ?? undefined
  while (cursor !== undefined)
}

async function readWholeList(deps: Deps, settlement: Settlement, read: () => void) {
  const { settlementId: id, clientId } = settlement
  const nets: number[] = []
  await everyPage(async (after) => {
    const page = await settlementEntries(deps, { clientId, id, after, limit: 100 })
    read()
    nets.push(...page.entries.map((entry) => entry.client_net_minor))
    return page.next
  })
  const net = nets.reduce((sum, value) => sum + value, 0)
  if (net !== settlement.netMinor || nets.length !== settlement.paymentCount)
    throw new Error('a payment is lost')
}

function rounded(value: number) {
  return value >= 100 ? Math.round(value).toLocaleString('en') : String(Math.round(value * 10) / 10)
}

function failuresIn([smallest, ...larger]: readonly Growth[]) {
  return larger.flatMap(({ payments, costs }) =>
    costs.flatMap(({ action, constant, reads, writes }, at) => {
      const least = smallest?.costs[at]
      const more = reads + writes - (least ? least.reads + least.writes : 0)
      // One page without a stored position costs at most 2,000 rows of the index, a million bytes.
      return !constant || more <= 125
        ? []
        : [`${action} costs ${rounded(more)} units more at ${payments} payments`]
    }),
  )
}
