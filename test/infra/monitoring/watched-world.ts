import { handler as dueAlerts } from '../../../functions/queue/check-due-alerts.ts'
import { handler as dueDeliveries } from '../../../functions/queue/check-due-deliveries.ts'
import { handler as duePayments } from '../../../functions/queue/check-due-payments.ts'
import { handler as checkDueWork } from '../../../functions/schedule/check-due-work.ts'
import type { Deps } from '../../../shared/deps.ts'
import { loggedProvider } from '../../../shared/provider/logged-provider.ts'
import type { Provider } from '../../../shared/provider/provider.ts'
import { jsonLog } from '../../../shared/runtime/json-log.ts'
import { emittedBy } from '../../support/emitted-by.ts'
import { handOver as handOverTo, type Worker } from '../../support/operator-actions.ts'
import { type MemoryDeps, memoryDeps } from '../../support/test-deps.ts'

export const WATCHED_STAGE = 'prod'

export type Scene = (deps: MemoryDeps) => Promise<unknown>

/** Calls of the provider are logged as on AWS. */
export async function emittedIn(scene: Scene) {
  const output: string[] = []
  const deps = memoryDeps({ log: jsonLog(WATCHED_STAGE, (line) => void output.push(line)) })
  await scene({ ...deps, provider: { ...deps.provider, ...loggedProvider(deps.provider, deps) } })
  return output.flatMap(emittedBy)
}

/** Its log lines have the name of the function on AWS. */
export function handOver(handler: Worker, deps: Deps, bodies: readonly unknown[], worker: string) {
  return handOverTo(handler, deps, bodies, `gateway-${WATCHED_STAGE}-${worker}`)
}

export const DUE_WORKERS = [
  ['check-due-payments', duePayments],
  ['check-due-deliveries', dueDeliveries],
  ['check-due-alerts', dueAlerts],
] as const

export async function runDueWork(deps: MemoryDeps) {
  const sentBefore = deps.sent.length
  await run(checkDueWork, deps)
  const newMessages = deps.sent.slice(sentBefore)
  for (const [worker, handler] of DUE_WORKERS) {
    const messages = newMessages.filter(({ queue }) => worker === `check-${queue}`)
    for (const { message } of messages) await handOver(handler, deps, [message.body], worker)
  }
}

export function run(handler: Worker, deps: Deps) {
  return handler.withDeps(deps)({} as never, {} as never)
}

export function answerLate<Name extends keyof Provider>(
  deps: MemoryDeps,
  name: Name,
  answer: Awaited<ReturnType<Provider[Name]>>,
) {
  // Longer than any deadline for the slowest percent of the provider's calls.
  const lateAnswer = () => deps.sleep(9_000).then(() => answer)
  deps.provider.script(name, lateAnswer as never)
}
