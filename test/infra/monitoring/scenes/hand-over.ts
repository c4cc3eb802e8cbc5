import { functionName } from '../../../../functions/function-spec.ts'
import { MANIFEST } from '../../../../functions/manifest.ts'
import type { Deps } from '../../../../shared/deps.ts'
import { WATCHED_STAGE } from './watched-world.ts'

type Batches = (event: never, context: never) => Promise<unknown>

/** Hands a batch to a queue's or the stream's real handler, as Lambda does. */
export const handOver = (
  handler: { readonly withDeps: (deps: Deps) => Batches },
  deps: Deps,
  records: readonly unknown[],
  worker: Worker,
): Promise<unknown> => handler.withDeps(deps)({ Records: records } as never, contextOf(worker) as never)

type Worker = 'deliver-webhook' | 'settle-client' | 'fan-out-events'

/** Lambda tells a function its name. */
const contextOf = (worker: Worker) => {
  const spec = MANIFEST.find(({ name }) => name === worker)
  if (!spec) throw new Error(`there is no ${worker}`)
  return { functionName: functionName(WATCHED_STAGE, spec) }
}

/** Starts what the clock starts. */
export const run = (handler: { readonly withDeps: (deps: Deps) => Batches }, deps: Deps): Promise<unknown> =>
  handler.withDeps(deps)({} as never, {} as never)

export const asMessage = (body: unknown) => ({
  messageId: crypto.randomUUID(),
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
