import { interceptTable, type TableCall } from '../../../support/intercept-table.ts'
import type { TestDeps } from '../../../support/test-deps.ts'

/** Where a process dies: with its nth call still unsent, or with the answer on its way back. */
export type Death = { readonly call: number; readonly when: 'before' | 'after' }

class ProcessDied extends Error {
  override readonly name = 'ProcessDied'
}

const PROVIDER_CALLS = ['createRequest', 'getRequest', 'getPayment', 'cancelRequest', 'listTransactions'] as const

/**
 * A process that dies at its nth call; without a death, one whose calls are counted. What was on its way when it died
 * still arrives; nothing it does afterwards does, whatever it catches.
 */
export const processThatDies = (deps: TestDeps, death?: Death) => {
  const calls: string[] = []
  let dead = false
  const depart = (name: string): number => {
    if (dead) throw new ProcessDied()
    const number = calls.push(name)
    if (death?.call !== number || death.when !== 'before') return number
    dead = true
    throw new ProcessDied()
  }
  const arrive = (number: number): void => {
    if (death?.call === number) dead = true
    if (dead) throw new ProcessDied()
  }
  const mortal =
    <Args extends readonly unknown[], Result>(name: string, run: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      const number = depart(name)
      const result = await run(...args)
      arrive(number)
      return result
    }
  const numbers = new Map<TableCall, number>()
  const table = interceptTable(deps, {
    before: (call) => void numbers.set(call, depart(call.name)),
    after: (call) => arrive(numbers.get(call) ?? 0),
  })
  const provider = { ...deps.provider }
  for (const name of PROVIDER_CALLS) Object.assign(provider, { [name]: mortal<never[], unknown>(name, provider[name]) })
  const alerts = { publish: mortal('publish', deps.alerts.publish) }
  const queues = { send: mortal('send', deps.queues.send) }
  return {
    deps: { ...table, provider, alerts, queues },
    /** Every call that went out, in order: to the table, the provider, the topic or a queue. */
    calls: calls as readonly string[],
    /** Whether it came as far as its death. */
    died: () => dead,
  }
}

/** Runs what may die; anything else that is thrown is thrown on. True when it died. */
export const dies = async (run: () => Promise<unknown>): Promise<boolean> => {
  try {
    await run()
    return false
  } catch (error) {
    if (error instanceof ProcessDied) return true
    throw error
  }
}
