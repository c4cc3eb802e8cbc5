import { randomBytes, randomUUID } from 'node:crypto'
import { memoryRequests } from '../../../infra/local/emulators/memory-table/memory-requests.ts'
import { createMemoryTable } from '../../../infra/local/emulators/memory-table/memory-table.ts'
import { auditClient } from '../../../shared/audit/run-audits.ts'
import type { Client } from '../../../shared/client/client.ts'
import type { Deps } from '../../../shared/deps.ts'
import { getBalance } from '../../../shared/ledger/ledger-store.ts'
import { listPayments } from '../../../shared/payment/list-payments.ts'
import { paymentsOfReference } from '../../../shared/payment/reference-store.ts'
import { markSettlementPaid } from '../../../shared/payout/mark-settlement-paid.ts'
import { settleClient } from '../../../shared/settlement/settle-client.ts'
import type { Settlement } from '../../../shared/settlement/settlement.ts'
import { listSettlements } from '../../../shared/settlement/settlement-store.ts'
import { settlementEntries } from '../../../shared/settlement/statement/settlement-entries.ts'
import { settlementStatement } from '../../../shared/settlement/statement/settlement-statement.ts'
import { addMs, DAY_MS, epochMs, HOUR_MS, MINUTE_MS, type Timestamp, timestampOf } from '../../../shared/time.ts'
import { assembledDeps } from '../../support/assembled-deps.ts'
import { storePosted, succeededPayment } from '../../support/paid-builders.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { meterTable } from '../meter-table.ts'

/** What one action costs a client that has made so many payments. */
export type Cost = { readonly action: string; readonly reads: number; readonly writes: number }
export type Growth = { readonly payments: number; readonly costs: readonly Cost[] }

const START_MS = Date.UTC(2026, 10, 2, 3, 0, 0)
/** Every size gets the same new day on top of its history. */
const NEW_PAYMENTS = 100
const CHUNK = 1_000
const REFERENCE = 'order-1'
const STORED_AT_ONCE = 5_000

const nobody = (what: string) => () => Promise.reject(new Error(`${what} is asked by nothing that is measured`))

/** A gateway on a table in memory and a clock that only we move; nothing it does here asks the provider. */
export const measuredWorld = () => {
  const memory = createMemoryTable({ indexes: 'immediate' })
  const clock = { now: timestampOf(START_MS) }
  const messages: object[] = []
  const asked = nobody('the provider')
  const deps = assembledDeps({
    requests: memoryRequests(memory),
    provider: {
      createRequest: asked,
      getRequest: asked,
      getPayment: asked,
      cancelRequest: asked,
      listTransactions: asked,
    },
    queues: { send: async (_queue: string, { body }: { readonly body: object }) => void messages.push(body) },
    alerts: { publish: nobody('the topic') },
    secrets: {
      get: nobody('a secret'),
      create: nobody('a secret'),
      replace: nobody('a secret'),
      remove: nobody('a secret'),
    },
    sendWebhook: nobody('a merchant'),
    log: { info: () => {}, warn: () => {}, error: () => {} },
    now: () => clock.now,
    realNowMs: () => epochMs(clock.now),
    monotonicMs: () => performance.now(),
    sleep: async () => {},
    newId: randomUUID,
    random: Math.random,
    randomBytes,
  } as never)
  return { memory, clock, deps: deps as TestDeps, messages }
}

/** Paid a millisecond apart, each posted by its settled row. */
export const makePayments = async (deps: TestDeps, client: Client, count: number, from: Timestamp) => {
  for (let at = 0; at < count; at += STORED_AT_ONCE) {
    const some = Array.from({ length: Math.min(STORED_AT_ONCE, count - at) }, (_, index) => {
      const paidAt = addMs(from, at + index)
      const notionalMinor = 10_000 + (index % CHUNK)
      const named = at + index === 0 && { externalReference: REFERENCE }
      return succeededPayment(client, { paidAt, notionalMinor, ...named })
    })
    await storePosted(deps, some)
  }
}

/** Reads a statement to its end. */
const wholeStatement = async (deps: Deps, settlementId: string) => {
  let cursor: string | undefined
  do {
    const page = await settlementStatement(deps, { settlementId, cursor, format: 'json' })
    cursor = page.cursor ?? undefined
  } while (cursor !== undefined)
}

/** Reads a settlement's payments to their end as its merchant does; their sums are its own. Tells of each page. */
const wholeList = async (deps: Deps, settlement: Settlement, read: () => void) => {
  const { settlementId: id, clientId } = settlement
  let [after, net, count]: [string | undefined, number, number] = [undefined, 0, 0]
  do {
    const page = await settlementEntries(deps, { clientId, id, after, limit: 100 })
    read()
    net += page.entries.reduce((sum, entry) => sum + entry.client_net_minor, 0)
    count += page.entries.length
    after = page.next
  } while (after !== undefined)
  if (net !== settlement.netMinor || count !== settlement.paymentCount) throw new Error('the pages lost a payment')
}

/** The actions of one client with so many payments in one settled window, and a new day after it. */
export const measureGrowth = async (payments: number): Promise<Growth> => {
  const { memory, clock, deps, messages } = measuredWorld()
  const client = await aStoredClient(deps, { settlementFloorMinor: 0 as never })
  const { clientId } = client
  await makePayments(deps, client, payments, clock.now)
  const pass = (ms: number) => {
    clock.now = addMs(clock.now, ms)
  }
  pass(payments + DAY_MS + MINUTE_MS)
  const meter = meterTable(memory)
  const costs: Cost[] = []
  const measure = async (action: string, run: () => Promise<unknown>) => {
    meter.take()
    await run()
    const { reads, writes } = meter.take()
    costs.push({ action, reads, writes })
  }
  const audit = async () => {
    do {
      messages.length = 0
      await auditClient(deps, clientId)
    } while (messages.length > 0)
  }
  const settle = () => settleClient(deps, clientId, { by: 'auto' })
  const page = (number: number) =>
    listPayments(deps, { clientId, status: undefined, page: { page: number, perPage: 25 } })

  await measure('settle a window of all of them', settle)
  const [settlement] = await listSettlements(deps, clientId, { page: 1, perPage: 1 })
  if (settlement === undefined) throw new Error('nothing was settled')
  const { settlementId } = settlement
  await measure('balance', () => getBalance(deps, clientId))
  await measure('list, first page', () => page(1))
  await measure('list, last page', () => page(Math.ceil(payments / 25)))
  await measure('list of settlements', () => listSettlements(deps, clientId, { page: 1, perPage: 25 }))
  await measure('statement, first page', () =>
    settlementStatement(deps, { settlementId, cursor: undefined, format: 'json' }),
  )
  await measure('statement, every page', () => wholeStatement(deps, settlementId))
  const pages: Omit<Cost, 'action'>[] = []
  meter.take()
  await wholeList(deps, settlement, () => void pages.push(meter.take()))
  const dearest = pages.reduce((most, one) => (one.reads > most.reads ? one : most))
  costs.push({
    action: 'payments of a settlement, a hundred: the dearest page of all',
    reads: dearest.reads,
    writes: dearest.writes,
  })
  await measure('payment by external_reference', () =>
    paymentsOfReference(deps, {
      clientId: client.clientId,
      reference: REFERENCE,
      status: undefined,
      page: { page: 1, perPage: 25 },
    }),
  )
  await measure('mark paid', () =>
    markSettlementPaid(deps, {
      settlementId,
      operator: 'bench',
      bankReference: 'bench',
      notes: undefined,
      confirm: {},
    }),
  )
  await measure('audit of all of them, the first', audit)
  await makePayments(deps, client, NEW_PAYMENTS, clock.now)
  pass(DAY_MS + HOUR_MS)
  await measure(`settle ${NEW_PAYMENTS} more`, settle)
  await measure(`audit with ${NEW_PAYMENTS} more`, audit)
  await measure('audit, nothing has moved', audit)
  return { payments, costs }
}
