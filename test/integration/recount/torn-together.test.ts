/**
 * Goal: several payments may be torn by one restore. Method: two flows of one client, one after the other; each torn state
 * of the first with each of the second.
 */
import { describe, expect, it } from 'vitest'
import { auditLedger } from '../../../shared/audit/audit-ledger.ts'
import type { Client } from '../../../shared/client/client.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-provider-news.ts'
import { recountLedger } from '../../../shared/recount/recount-ledger.ts'
import { type MemoryDeps, memoryDeps } from '../../support/memory-deps.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { sampleOf } from '../../support/runs.ts'
import { withFloor } from '../../support/settlement-builders.ts'
import { paidUpstream, rowNow } from '../../support/synced-payment.ts'
import { storedEndpoint } from '../../support/webhook-builders.ts'
import { hearEverything, syncRows } from './after-recount.ts'
import { FLOWS, type Flow } from './torn-flows.ts'
import { recordTransactions, tornTogether } from './torn-states.ts'

const flowOf = (name: string): Flow => {
  const flow = FLOWS[name]
  if (flow === undefined) throw new Error(`there is no flow ${name}`)
  return flow
}

const heal = async (deps: MemoryDeps, { clientId }: Client, rounds: number): Promise<void> => {
  for (let round = 0; round < rounds; round++) {
    const { balanced, differences } = await auditLedger(deps, clientId)
    if (balanced !== true) await recountLedger(deps, { clientId, expected: differences, operator: 'ana' })
  }
  await expectBalanced(deps, clientId)
  await hearEverything(deps)
  await expectBalanced(deps, clientId)
  expect(deps.stored.items('SUSPENSE#').filter(({ kind }) => kind === 'money')).toStrictEqual([])
}

const PAIRS = [
  ['succeeds', 'is posted'],
  ['is refunded after it was posted', 'fails'],
  ['is posted with what went back before', 'expires'],
] as const

describe.each(PAIRS)('a restore in the midst of a payment that %s, and of one that %s', async (...names) => {
  const deps = memoryDeps()
  const client = await withFloor(deps)
  await storedEndpoint(deps, { clientId: client.clientId, eventTypes: ['*', 'payment.reversed'] })
  const recorded = []
  for (const name of names) {
    const { act } = await flowOf(name)(deps, client)
    recorded.push(...(await recordTransactions(deps, act)).slice(-1))
  }

  it.each(sampleOf(tornTogether(recorded), 6))('$title', ({ world }) => heal(world(), client, 1))
})

describe('a restore in the midst of two transactions of one payment', async () => {
  const deps = memoryDeps()
  const client = await withFloor(deps)
  await storedEndpoint(deps, { clientId: client.clientId, eventTypes: ['*', 'payment.reversed'] })
  const paid = await paidUpstream(deps, client)
  const { providerPaymentId } = paid
  const first = await recordTransactions(deps, (acting) => applyProviderNews(acting, { providerPaymentId }, 'callback'))
  deps.provider.transactions.push(rowNow(deps, paid, { transactionId: `txn_${paid.payment.paymentId}` }))
  deps.clock.advance(1)
  const second = await recordTransactions(deps, syncRows)

  it.each(tornTogether([...first, ...second]))('$title', ({ world }) => heal(world(), client, 2))
})
