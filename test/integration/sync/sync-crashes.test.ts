import { describe, expect, it } from 'vitest'
import { closePayment } from '../../../shared/payment/news/close-payment.ts'
import { findSuspense } from '../../../shared/suspense/suspense-store.ts'
import { findDueJobs } from '../../../shared/sync/job-store.ts'
import { syncProviderTransactions } from '../../../shared/sync/sync-provider-transactions.ts'
import { addMs, HOUR_MS } from '../../../shared/time.ts'
import { type Death, processThatDies } from '../../support/dying-process.ts'
import { expectBalanced } from '../../support/expect-balanced.ts'
import { settledRow } from '../../support/fake-provider.ts'
import { ledgerView } from '../../support/ledger-view.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { aStoredClient } from '../../support/payment-builders.ts'
import {
  creditedPayment,
  findingAbout,
  type PaidUpstream,
  paidUpstream,
  paymentOf,
  rowNow,
} from '../../support/synced-payment.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { dueAtOf } from '../../support/webhook-builders.ts'

/**
 * Goal: a sync that dies anywhere and is run again ends where one that lives ends. Method: one history with everything
 * a sync can meet; the process dies at its first call of table, provider or alerts, then at its second, and so on to
 * the last, once before the call takes effect and once behind it. Then the sync runs again, alive.
 */

/** Behind a sync that has read everything up to eight hours ago. */
const history = async () => {
  const deps = memoryDeps()
  await syncProviderTransactions(deps)
  deps.clock.advance(8 * 3_600)
  const rows = deps.provider.transactions
  const client = await aStoredClient(deps)
  const estimated = await creditedPayment(deps, client)
  const lost = await paidUpstream(deps, client)
  const expired = await paidUpstream(deps, client)
  await closePayment(deps, expired.payment, 'expired', 'due_work')
  const reversed = await creditedPayment(deps, client)
  const foreign = { providerPaymentId: `inv-${crypto.randomUUID()}`, reference: 'order 17' }
  rows.push(settledRow(foreign, addMs(deps.now(), -7 * HOUR_MS)))
  for (const paid of [estimated, lost, expired]) rows.push(rowNow(deps, paid))
  rows.push(rowNow(deps, reversed, { keptMinor: undefined }))
  const goneRow = rowNow(deps, reversed, { status: 'reversed' })
  rows.push(goneRow)
  return { deps, client, estimated, lost, expired, reversed, goneRow, foreign }
}
type History = Awaited<ReturnType<typeof history>>

const summaryOf = async (deps: TestDeps, paid: PaidUpstream) => {
  const { status, feeStatus, netMinor, finalFee, providerSettledAt } = await paymentOf(deps, paid)
  return { status, feeStatus, netMinor, finalFee: finalFee?.feeMinor, settled: providerSettledAt !== undefined }
}

/** Items whose alert was neither published nor is still due: nobody would ever hear of them. */
const swallowedAlerts = async (deps: TestDeps, ids: readonly string[]) => {
  const swallowed: string[] = []
  for (const id of ids) {
    const published = deps.published.some(({ subject }) => subject === id)
    if (!published && (await dueAtOf(deps, 'alert', id)) === undefined) swallowed.push(id)
  }
  return swallowed
}

const endOf = async ({ deps, client, estimated, lost, expired, reversed, goneRow, foreign }: History) => {
  const held = await findSuspense(deps, expired.providerPaymentId)
  const unexplained = await findingAbout(deps, foreign.providerPaymentId, 'transaction_unexplained')
  const gone = await findingAbout(deps, goneRow.transactionId, 'reversal_deducted')
  return {
    due: await findDueJobs(deps, 10),
    estimated: await summaryOf(deps, estimated),
    lost: await summaryOf(deps, lost),
    expired: await summaryOf(deps, expired),
    reversed: await summaryOf(deps, reversed),
    ledger: await ledgerView(deps, client.clientId),
    suspense: [held, unexplained, gone].map((item) => item?.cause),
    swallowed: await swallowedAlerts(
      deps,
      [held, unexplained, gone].map((item) => item?.suspenseId ?? ''),
    ),
  }
}

const RECONCILED = { status: 'succeeded', feeStatus: 'actual', netMinor: 95_460, finalFee: 4_440, settled: true }
const END = {
  estimated: RECONCILED,
  lost: RECONCILED,
  expired: { status: 'expired', feeStatus: 'estimated', netMinor: 95_900, finalFee: undefined, settled: false },
  reversed: { status: 'succeeded', feeStatus: 'assumed', netMinor: 95_900, finalFee: 4_000, settled: true },
  ledger: { pendingMinor: 2 * 95_460, succeeded: 3, expired: 1 },
  suspense: ['payment_not_pending', 'transaction_unexplained', 'reversal_deducted'],
  swallowed: [],
}

/** Answers whether the run came as far as the crash. */
const dieAndRunAgain = async (point: Death): Promise<boolean> => {
  const world = await history()
  const { deps, client } = world
  const dying = processThatDies(deps, point)
  await syncProviderTransactions(dying.deps).catch(() => undefined)
  if (dying.died()) {
    // What the dead one had claimed is due again behind its lease.
    deps.clock.advance(301)
    expect(await syncProviderTransactions(deps)).toMatchObject({ unanswered: 0, complete: true })
  }
  expect({ point, ...(await endOf(world)) }).toStrictEqual({ point, due: [], ...END })
  await expectBalanced(deps, client.clientId)
  return dying.died()
}

describe.each(['before', 'after'] as const)('sync: killed just %s a call takes effect', (when) => {
  it('ends where a run that lives ends, whichever call it is', async () => {
    let call = 1
    while (await dieAndRunAgain({ call, when })) call++

    // Every payment costs several calls; fewer would mean that the history was not met.
    expect(call).toBeGreaterThan(30)
  }, 240_000)
})
