import { handler as auditClient } from '../../../../functions/queue/audit-client.ts'
import { handler as sweepSettlements } from '../../../../functions/schedule/sweep-settlements.ts'
import { handler as syncProviderTransactions } from '../../../../functions/schedule/sync-provider-transactions.ts'
import { moveOpenCredit } from '../../../../shared/ledger/shard-store.ts'
import { minor } from '../../../../shared/money.ts'
import { applyProviderNews } from '../../../../shared/payment/news/apply-news.ts'
import type { MemoryDeps } from '../../../support/memory-deps.ts'
import { aSucceededPayment } from '../../../support/paid-builders.ts'
import { aStoredClient } from '../../../support/payment-builders.ts'
import { withFloor } from '../../../support/settlement-builders.ts'
import { aPending, unreadableMessages, unsettled } from './payment-scenes.ts'
import { answersLate, asMessage, handOver, run, runDueWork, type Scene } from './watched-world.ts'

/** Less than what was asked is received: no client may be credited with it. */
const wrongAmount = async (deps: MemoryDeps) => {
  const { paymentRequestId } = await aPending(deps)
  const providerPaymentId = deps.provider.pay(paymentRequestId, 99_999)
  await applyProviderNews(deps, { providerPaymentId }, 'callback')
}

const NO_TOPIC = {
  publish: async () => {
    throw new Error('no topic')
  },
}

const itemInTrouble: Scene = async (deps) => {
  await aPending(deps)
  deps.clock.advance(25 * 60 * 60)
  deps.provider.script('cancelRequest', async () => {
    throw new Error('something unforeseen')
  })
  await runDueWork(deps)
}

/** First without a single client, then with one. */
const sweptTwice: Scene = async (deps) => {
  await run(sweepSettlements, deps)
  await aStoredClient(deps)
  await run(sweepSettlements, deps)
}

/** By the alarm that must see it. */
export const MONEY_SCENES: Readonly<Record<string, Scene>> = {
  'settled-in-time-fast': async (deps) => {
    await sweptTwice(deps)
    await unsettled(deps)
  },
  'settled-in-time-slow': sweptTwice,
  'alerts-late': async (deps) => {
    await wrongAmount({ ...deps, alerts: NO_TOPIC })
    deps.clock.advance(30 * 60)
    await runDueWork(deps)
  },
  'payment-checks-late': async (deps) => {
    await aPending(deps)
    deps.clock.advance(25 * 60 * 60)
    await runDueWork(deps)
  },
  'due-work-not-running': runDueWork,
  'work-failing': async (deps) => {
    await itemInTrouble(deps)
    await unreadableMessages(deps)
  },
  'sweep-not-run': sweptTwice,
  // What could not be read is read half an hour later.
  'sync-behind': async (deps) => {
    answersLate(deps, 'listTransactions', { kind: 'unanswered', reason: 'unreachable' })
    await run(syncProviderTransactions, deps)
    deps.provider.heal('listTransactions')
    deps.clock.advance(30 * 60)
    await run(syncProviderTransactions, deps)
  },
  // As for a filter or a value that the provider does not take.
  'provider-refuses-calls': async (deps) => {
    deps.provider.script('listTransactions', async () => ({
      kind: 'unanswered',
      reason: 'refused',
      code: 'API_VALIDATION_ERROR',
    }))
    await run(syncProviderTransactions, deps)
  },
  'suspense-flood': wrongAmount,
  // A person writes into the table by hand.
  'audit-imbalance': async (deps) => {
    const client = await withFloor(deps)
    const payment = await aSucceededPayment(deps, client)
    await deps.table.write(moveOpenCredit(payment, minor(1), deps.now()))
    await handOver(auditClient, deps, [asMessage({ client_id: client.clientId, again: true })], 'audit-client')
  },
}
