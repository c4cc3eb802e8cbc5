/**
 * Goal: what an operator did is kept if any of its rows is left, and what no row shows is named.
 * Method: the transactions of operators and of the house are left in every torn state. After a
 * recount of the gateway and of the client the audits find only what section 13 of the design lists
 * as not repairable or what the recount named, and a second recount has nothing to write. `npm
 * test` has a sample of them, the nightly run all.
 */

import { describe, expect, it } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-client.ts'
import { auditWholeGateway } from '../../../shared/audit/audit-gateway.ts'
import { issueApiKey, revokeApiKey } from '../../../shared/client/api-key-store.ts'
import type { Client } from '../../../shared/client/client.ts'
import { changeClient, insertClient } from '../../../shared/client/client-store.ts'
import { SETTLEMENT_EVENT_TYPES } from '../../../shared/event/event.ts'
import { readLedger } from '../../../shared/ledger/ledger-store.ts'
import { minor } from '../../../shared/money.ts'
import { holdMoney } from '../../../shared/payment/held-money.ts'
import { payoutFile } from '../../../shared/payout/payout-file.ts'
import { adjustHouse } from '../../../shared/posting/adjust-house.ts'
import {
  bookSuspense,
  bookSuspenseRefund,
  bookUnmatchedRow,
} from '../../../shared/posting/house-journal.ts'
import { refundPayment } from '../../../shared/posting/refund-payment.ts'
import { resolveSuspense } from '../../../shared/posting/resolve-suspense.ts'
import {
  finding,
  type NamedPayment,
  recordSuspense,
} from '../../../shared/suspense/record-suspense.ts'
import { clientKey } from '../../../shared/table/keys.ts'
import { isSame } from '../../../shared/verdict/difference.ts'
import {
  deleteEndpoint,
  registerEndpoint,
  updateEndpoint,
} from '../../../shared/webhook/endpoint/change-endpoint.ts'
import { adjustBalance, aHouseRow, someHeldMoney } from '../../support/money-rows.ts'
import { aSucceededPayment } from '../../support/paid-builders.ts'
import { aClient, issueKey } from '../../support/payment-builders.ts'
import { sampleOf } from '../../support/runs.ts'
import {
  aDayLater,
  aLoneClient,
  auditedNow,
  bringBack,
  fail,
  payOut,
  recredit,
  settledAmount,
  settlementsOf,
  trigger,
  withoutFloor,
} from '../../support/settlement-builders.ts'
import { type MemoryDeps, memoryDeps } from '../../support/test-deps.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'
import { withApproval } from '../../support/with-approval.ts'
import type { Flow } from './torn-flows.ts'
import { recordTransactions, recount, tornOneByOne, tornStates } from './torn-world.ts'

const OPERATOR = 'ana'

function heldFor(deps: MemoryDeps, payment: NamedPayment) {
  return someHeldMoney(deps, 'py-held', 5_000, { cause: 'second_capture', payment })
}

async function heldItem(deps: MemoryDeps, client: Client) {
  const held = heldFor(deps, { paymentId: undefined, clientId: client.clientId })
  await recordSuspense(deps, held)
  return held
}

async function bookedItem(deps: MemoryDeps, client: Client) {
  const held = await heldItem(deps, client)
  return bookSuspense(deps, held, aHouseRow(deps, 'txn-held', 5_000))
}

function contradiction(deps: MemoryDeps) {
  const about = { cause: 'transaction_unexplained', payment: undefined, now: deps.now() } as const
  return finding({ subject: 'txn', ...about })
}

async function aSettlement(deps: MemoryDeps, client: Client) {
  const settlement = await settledAmount(deps, client)
  await auditedNow(deps, settlement)
  return settlement
}

function resolving(resolution: 'refunded_by_bank' | 'written_off'): Flow {
  return async (deps, client) => {
    const { suspenseId } = await bookedItem(deps, client)
    const input = { suspenseId, operator: OPERATOR, resolution, notes: 'BCA17' }
    return (acting) => withApproval(acting, () => resolveSuspense(acting, input))
  }
}

const FLOWS: Readonly<Record<string, Flow>> = {
  'settles by hand': async (deps, client) => {
    await aSucceededPayment(deps, client)
    aDayLater(deps)
    return (acting) => trigger(acting, client)
  },
  'pays out': async (deps, client) => {
    const settlement = await aSettlement(deps, client)
    return (acting) => payOut(acting, settlement)
  },
  'makes a payout file': async (deps, client) => {
    await aSettlement(deps, client)
    return (acting) => payoutFile(acting, { operator: OPERATOR, format: 'csv' })
  },
  'marks failed': async (deps, client) => {
    const settlement = await aSettlement(deps, client)
    return (acting) => fail(acting, settlement)
  },
  're-credits': async (deps, client) => {
    const settlement = await fail(deps, await aSettlement(deps, client))
    return (acting) => recredit(acting, settlement)
  },
  'brings a payout back': async (deps, client) => {
    const settlement = await payOut(deps, await aSettlement(deps, client))
    return (acting) => bringBack(acting, settlement)
  },
  'refunds a payment by bank': async (deps, client) => {
    const { paymentId } = await aSucceededPayment(deps, client)
    const input = { paymentId, operator: OPERATOR, amountMinor: minor(30_000) }
    return (acting) =>
      withApproval(acting, () => refundPayment(acting, { ...input, bankReference: 'BANK-2' }))
  },
  'takes a row over as a refund': async (deps, client) => {
    const { paymentId } = await aSucceededPayment(deps, client)
    await bookUnmatchedRow(deps, aHouseRow(deps, 'txn-transfer', -30_000))
    const input = { paymentId, operator: OPERATOR, amountMinor: minor(30_000) }
    return (acting) => refundPayment(acting, { ...input, providerTransactionId: 'txn-transfer' })
  },
  'adjusts the house': async () => {
    const [bankMinor, transitMinor] = [minor(-6_500), minor(0)]
    const legs = { bankMinor, transitMinor, costMinor: minor(-6_500), otherMinor: minor(0) }
    const input = { ...legs, operator: OPERATOR, reference: 'FEE-1', notes: undefined }
    return (acting) => withApproval(acting, () => adjustHouse(acting, input))
  },
  'books recovered money': async (deps, client) => {
    await adjustBalance(deps, client, 'correction', -5_000)
    return (acting) => adjustBalance(acting, client, 'recovered', 5_000, 'BANK-1')
  },
  'writes off': async (deps, client) => {
    await adjustBalance(deps, client, 'correction', -5_000)
    return (acting) => adjustBalance(acting, client, 'written_off', 5_000, 'LOSS-1')
  },
  'takes a row over': async (deps, client) => {
    await bookUnmatchedRow(deps, aHouseRow(deps, 'txn-foreign', 7_000))
    return (acting) => adjustBalance(acting, client, 'correction', 7_000, 'ROW-1', 'txn-foreign')
  },
  'books a row that belongs to no payment': async (deps) => {
    const row = aHouseRow(deps, 'txn-foreign', 7_000)
    return (acting) => bookUnmatchedRow(acting, row, contradiction(acting))
  },
  'holds money': async (_, client) => (acting) => heldItem(acting, client),
  'holds money of a payment': async (deps, client) => {
    const held = heldFor(deps, await aSucceededPayment(deps, client))
    return (acting) => holdMoney(acting, held)
  },
  'writes off held money of a payment': async (deps, client) => {
    const held = heldFor(deps, await aSucceededPayment(deps, client))
    await holdMoney(deps, held)
    await bookSuspense(deps, held, aHouseRow(deps, 'txn-held', 5_000))
    const input = { ...held, operator: OPERATOR, resolution: 'written_off' } as const
    return (acting) => resolveSuspense(acting, input)
  },
  'books held money': async (deps, client) => {
    const held = await heldItem(deps, client)
    return (acting) => bookSuspense(acting, held, aHouseRow(acting, 'txn-held', 5_000))
  },
  'books a refund of held money': async (deps, client) => {
    const held = await bookedItem(deps, client)
    const row = aHouseRow(deps, 'txn-back', -5_000)
    return (acting) => bookSuspenseRefund(acting, held, row, contradiction(acting))
  },
  'refunds held money by bank': resolving('refunded_by_bank'),
  'writes held money off': resolving('written_off'),
  'changes a client': async (_, client) => (acting) =>
    changeClient(acting, { ...client, operator: OPERATOR, changes: { name: 'Warung Baru' } }),
  'issues a key':
    async (_, { clientId }) =>
    (acting) =>
      issueApiKey(acting, { clientId, operator: OPERATOR }),
  'revokes a key': async (deps, { clientId }) => {
    const { key } = await issueKey(deps, clientId)
    return (acting) => revokeApiKey(acting, { clientId, keyId: key.keyId, operator: OPERATOR })
  },
  'registers an endpoint':
    async (_, { clientId }) =>
    (acting) =>
      registered(acting, clientId),
  'disables an endpoint': async (deps, { clientId }) => {
    const { endpoint } = await registered(deps, clientId)
    const input = { ...endpoint, operator: OPERATOR, enabled: false }
    return (acting) => updateEndpoint(acting, input)
  },
  'deletes an endpoint': async (deps, { clientId }) => {
    const { endpoint } = await registered(deps, clientId)
    return (acting) => deleteEndpoint(acting, { ...endpoint, operator: OPERATOR })
  },
}

function registered(deps: MemoryDeps, clientId: Client['clientId']) {
  return registerEndpoint(deps, {
    clientId,
    operator: OPERATOR,
    url: 'https://merchant.example/hooks',
    eventTypes: ['*'],
  })
}

/**
 * Gaps in a chain, a secret that nothing else has, approvals, batches (a person cancels a torn
 * one), and what no record names.
 */
const NOT_REPAIRABLE = /^(audit_record|endpoint|api_key|(approval|batch)(\..*)?)$/

async function findings(deps: MemoryDeps, { clientId }: Client) {
  const gateway = await auditWholeGateway(deps)
  const own = (await deps.table.get(clientKey(clientId)))
    ? await auditLedger(deps, clientId)
    : gateway
  return [...gateway.differences, ...own.differences]
}

/** What is only in the books of our bank: the recount names its differences for a person. */
const NAMED = ['refunds a payment by bank', 'takes a row over as a refund', 'adjusts the house']

async function expectRepaired(deps: MemoryDeps, client: Client, isNamed = false) {
  const ofGateway = await recount(deps, 'gateway')
  const isThere = (await deps.table.get(clientKey(client.clientId))) !== undefined
  const ofClient = isThere ? await recount(deps, client) : undefined
  const named = isNamed ? [...ofGateway.not_repairable, ...(ofClient?.not_repairable ?? [])] : []
  // Its figures wait for what a person decides.
  const waits = isNamed && (ofClient?.left ?? []).some(({ id }) => id === client.clientId)
  const left = (await findings(deps, client)).filter(
    (found) =>
      !NOT_REPAIRABLE.test(found.what) &&
      !named.some((one) => isSame(one, found)) &&
      !(waits && found.what.startsWith('ledger.')),
  )
  expect(left).toStrictEqual([])
  expect((await recount(deps, 'gateway')).written).toStrictEqual([])
}

describe.each(Object.entries(FLOWS))(
  'a restore while an operator or the sync %s',
  async (name, flow) => {
    const { deps, client } = await aLoneClient()
    const eventTypes = ['*', ...SETTLEMENT_EVENT_TYPES]
    await storedEndpoint(deps, { clientId: client.clientId, eventTypes })
    deps.clock.advance(60)
    const { states } = await tornOneByOne(deps, await flow(deps, client))

    it.each(sampleOf(states, 60))('$title', async ({ title, world }) => {
      const torn = world()

      await expectRepaired(torn, client, NAMED.includes(name))

      const isPaid = name === 'pays out' && /settlement|window|\d{4}-/.test(title)
      if (!isPaid) return
      expect(await settlementsOf(torn, client)).toMatchObject([{ status: 'manual_paid' }])
      const { window } = await readLedger(torn, client.clientId)
      expect(window).toMatchObject({ inSettlementMinor: 0 })
    })
  },
)

describe('a restore while a client is created', async () => {
  const deps = memoryDeps()
  await withoutFloor(deps)
  const client = aClient()
  const transactions = await recordTransactions(deps, (acting) =>
    insertClient(acting, client, OPERATOR),
  )

  it.each(sampleOf(tornStates(transactions), 60))('$title', ({ world }) =>
    expectRepaired(world(), client),
  )
})
