import type { Deps } from '../deps.ts'
import type { LogFields } from '../log.ts'
import {
  type Answer,
  type CancelAnswer,
  type CreateAnswer,
  isOurMistake,
  type Provider,
} from './provider.ts'

type Outcome = Answer<unknown> | CancelAnswer | CreateAnswer

/** The provider with one log line for every call: operation, duration and the reason of a failure. */
export function loggedProvider(
  provider: Provider,
  { log, monotonicMs }: Pick<Deps, 'log' | 'monotonicMs'>,
): Provider {
  const logged = async <Answered extends Outcome>(
    operation: string,
    answering: Promise<Answered>,
  ) => {
    const startedMs = monotonicMs()
    const answer = await answering
    write(log, answer, {
      operation,
      result: answer.kind,
      call_ms: Math.round(monotonicMs() - startedMs),
    })
    return answer
  }
  return {
    ...provider,
    createRequest: (input, timeoutMs) =>
      logged('create_request', provider.createRequest(input, timeoutMs)),
    getRequest: (id, timeoutMs) => logged('get_request', provider.getRequest(id, timeoutMs)),
    getPayment: (id, timeoutMs) => logged('get_payment', provider.getPayment(id, timeoutMs)),
    cancelRequest: (id, timeoutMs) =>
      logged('cancel_request', provider.cancelRequest(id, timeoutMs)),
    getBalance: () => logged('get_balance', provider.getBalance()),
    listTransactions: (filter, timeoutMs) =>
      logged('list_transactions', provider.listTransactions(filter, timeoutMs)),
  }
}

/** Logs one outcome. The refusal of a single payment is no provider failure: `trouble` is 0. */
function write(log: Deps['log'], answer: Outcome, fields: LogFields): void {
  if (answer.kind === 'refused') {
    return log.warn('provider.call_failed', {
      ...fields,
      reason: answer.code,
      trouble: answer.isAccountWide ? 1 : 0,
    })
  }
  if (!('reason' in answer)) return log.info('provider.called', fields)
  const failed = {
    ...fields,
    reason: answer.reason,
    code: 'code' in answer ? answer.code : undefined,
    trouble: 1,
  }
  // Only we can fix it, so it has its own log code and alarm besides the count of provider failures.
  if (answer.kind === 'unanswered' && isOurMistake(answer))
    return log.error('provider.call_refused', failed)
  return log.warn('provider.call_failed', failed)
}
