import { interceptTable, type TableCall } from '../../../support/intercept-table.ts'
import type { TestDeps } from '../../../support/test-deps.ts'

/** A process dies before it sends its nth call, or after that call took effect but before its answer. */
export type Death = { readonly call: number; readonly when: 'before' | 'after' }

class ProcessDied extends Error {
  override readonly name = 'ProcessDied'
}

const PROVIDER_CALLS = ['createRequest', 'getRequest', 'getPayment', 'cancelRequest', 'listTransactions'] as const

/**
 * The outside of a process that dies at its nth call: to the table, the provider, the topic or a queue. Calls that it
 * sent before still take effect. Later calls have none, whatever the process catches.
 */
const mortalDeps = (deps: TestDeps, death: Death): TestDeps => {
  let sent = 0
  let dead = false
  const dieIf = (dies: boolean): void => {
    dead ||= dies
    if (dead) throw new ProcessDied()
  }
  const depart = (): number => {
    dieIf(false)
    sent++
    dieIf(death.call === sent && death.when === 'before')
    return sent
  }
  const arrive = (number: number): void => dieIf(death.call === number)
  const mortal =
    <Args extends readonly unknown[], Result>(run: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      const number = depart()
      const result = await run(...args)
      arrive(number)
      return result
    }
  const numbers = new Map<TableCall, number>()
  const table = interceptTable(deps, {
    before: (call) => void numbers.set(call, depart()),
    after: (call) => arrive(numbers.get(call) ?? 0),
  })
  const provider = { ...deps.provider }
  for (const name of PROVIDER_CALLS) Object.assign(provider, { [name]: mortal<never[], unknown>(provider[name]) })
  const alerts = { publish: mortal(deps.alerts.publish) }
  const queues = { send: mortal(deps.queues.send) }
  return { ...table, provider, alerts, queues }
}

/** Runs in a process that may die. True when it died; any other error is thrown. */
export const dies = async (
  deps: TestDeps,
  death: Death,
  run: (deps: TestDeps) => Promise<unknown>,
): Promise<boolean> => {
  try {
    await run(mortalDeps(deps, death))
    return false
  } catch (error) {
    if (error instanceof ProcessDied) return true
    throw error
  }
}
