import type { Provider } from '../../shared/provider/provider.ts'
import { interceptTable } from './intercept-table.ts'
import type { TestDeps } from './test-deps.ts'

/** The process is gone: whatever it was about to do is not done, and nobody hears of what was. */
export class ProcessDied extends Error {
  override readonly name = 'ProcessDied'
}

export type CrashPoint = { readonly call: number; readonly when: 'before' | 'after' }

const PROVIDER_CALLS = ['createRequest', 'getRequest', 'getPayment', 'cancelRequest', 'listTransactions'] as const

/**
 * The same world, in a process that dies at its n-th call of table, provider or alerts: just before it is sent, or when
 * it has taken effect and the answer is lost. Nothing works in it from then on. `reached` says whether it came so far.
 */
export const crashingAt = (deps: TestDeps, { call, when }: CrashPoint) => {
  let calls = 0
  let reached = false
  const guard = (moment: CrashPoint['when']) => {
    if (!reached && moment === 'before') calls++
    if (calls === call && moment === when) reached = true
    if (reached) throw new ProcessDied()
  }
  const guarded =
    <Args extends readonly unknown[], Result>(run: (...args: Args) => Promise<Result>) =>
    async (...args: Args): Promise<Result> => {
      guard('before')
      const result = await run(...args)
      guard('after')
      return result
    }
  const table = interceptTable(deps, { before: () => guard('before'), after: () => guard('after') })
  const provider: Provider = { ...deps.provider }
  for (const name of PROVIDER_CALLS) Object.assign(provider, { [name]: guarded<never[], unknown>(deps.provider[name]) })
  return {
    deps: {
      ...table,
      provider: { ...deps.provider, ...provider },
      alerts: { publish: guarded(deps.alerts.publish) },
    } satisfies TestDeps,
    reached: () => reached,
  }
}
