import type { Deps } from '../../../shared/deps.ts'

type Batches = (event: never, context: never) => Promise<unknown>

/** Hands a batch to a queue's or the stream's real handler, as Lambda does. */
export const handOver = (
  handler: { readonly withDeps: (deps: Deps) => Batches },
  deps: Deps,
  records: readonly unknown[],
): Promise<unknown> => handler.withDeps(deps)({ Records: records } as never, {} as never)

/** Starts what the clock starts. */
export const run = (handler: { readonly withDeps: (deps: Deps) => Batches }, deps: Deps): Promise<unknown> =>
  handler.withDeps(deps)({} as never, {} as never)

export const asMessage = (body: unknown) => ({
  messageId: crypto.randomUUID(),
  body: typeof body === 'string' ? body : JSON.stringify(body),
})
