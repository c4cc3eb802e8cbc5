/**
 * Goal: whatever a restore left of the last transaction, one recount repairs it. Method: each flow of money runs on a
 * table in memory, and its transactions are recorded. Of each, every torn state is made: each item missing, each item
 * alone, each prefix. Then the audit, the recount of what it shows, and the audit again; then the provider calls again and
 * the sync reads every row, twice. Several payments may be torn by one restore: of some flows one after the other, each
 * torn state of the first with each of the second.
 */
import { describe, expect, it } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import type { MemoryDeps } from '../../support/memory-deps.ts'
import { expectBalanced } from '../../support/recount/expect-balanced.ts'
import { sampleOf } from '../../support/runs.ts'
import { paidUpstream, rowNow } from '../../support/synced-payment.ts'
import { hearCallbacks, hearEverything, syncRows } from './after-recount.ts'
import { FLOWS } from './torn-flows.ts'
import { recordTransactions, tornTogether } from './torn-states.ts'
import { expectHealed, recount, toldClient, tornOf } from './torn-world.ts'

describe.each(Object.entries(FLOWS))('a restore in the midst of a payment that %s', async (_, flow) => {
  const torn = await tornOf(flow)

  it.each(torn.states)('$title', async ({ world }) => {
    const deps = world()

    await recount(deps, torn.client)

    await expectHealed(deps, torn)
  })
})

/** Callbacks may come before the recount. The sync may not: it would post an open payment a second time. */
describe.each(Object.entries(FLOWS).filter(([name]) => /^(succeed|fail|expire|is cancelled)/.test(name)))(
  'an hour of callbacks before the recount of a payment that %s',
  async (_, flow) => {
    const torn = await tornOf(flow)

    it.each(torn.states)('$title', async ({ world }) => {
      const deps = world()
      deps.clock.advance(3_600)
      await hearCallbacks(deps)

      await recount(deps, torn.client)

      await expectHealed(deps, torn)
    })
  },
)

const heal = async (deps: MemoryDeps, client: Client, rounds: number): Promise<void> => {
  for (let round = 0; round < rounds; round++) await recount(deps, client)
  await expectBalanced(deps, client.clientId)
  await hearEverything(deps)
  await expectBalanced(deps, client.clientId)
  expect(deps.stored.items('SUSPENSE#').filter(({ kind }) => kind === 'money')).toStrictEqual([])
}

const PAIRS = [
  ['succeeds', 'is posted'],
  ['is refunded after it was posted', 'fails'],
  ['is posted with what went back before', 'expires'],
] as const

describe.each(PAIRS)('a restore in the midst of a payment that %s, and of one that %s', async (...names) => {
  const { deps, client } = await toldClient(1)
  const recorded = []
  for (const name of names) {
    const { act } = await FLOWS[name](deps, client)
    recorded.push(...(await recordTransactions(deps, act)).slice(-1))
  }

  it.each(sampleOf(tornTogether(recorded), 6))('$title', ({ world }) => heal(world(), client, 1))
})

describe('a restore in the midst of two transactions of one payment', async () => {
  const { deps, client } = await toldClient(1)
  const paid = await paidUpstream(deps, client)
  const { providerPaymentId } = paid
  const first = await recordTransactions(deps, (acting) => applyProviderNews(acting, { providerPaymentId }, 'callback'))
  deps.provider.transactions.push(rowNow(deps, paid, { transactionId: `txn_${paid.payment.paymentId}` }))
  deps.clock.advance(1)
  const second = await recordTransactions(deps, syncRows)

  it.each(tornTogether([...first, ...second]))('$title', ({ world }) => heal(world(), client, 2))
})
