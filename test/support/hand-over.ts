import type { Deps } from '../../shared/deps.ts'

export type Handler<Answer = unknown> = {
  readonly withDeps: (deps: Deps) => (event: never, context: never) => Promise<Answer>
}

/** A worker gets one batch of messages: `message-0`, `message-1` and so on. */
export function handOver<Answer>(
  worker: Handler<Answer>,
  deps: Deps,
  bodies: readonly unknown[],
  functionName = 'worker',
) {
  const Records = bodies.map((body, at) => ({
    messageId: `message-${at}`,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  }))
  return worker.withDeps(deps)({ Records } as never, { functionName } as never)
}
