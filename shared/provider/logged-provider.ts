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

/** The provider with one log line for every call. */
export function loggedProvider(
  provider: Provider,
  { log, monotonicMs }: Pick<Deps, 'log' | 'monotonicMs'>,
): Provider {
  const logCall = async <Answered extends Outcome>(operation: string, call: Promise<Answered>) => {
    const startedMs = monotonicMs()
    const answer = await call
    logOutcome(log, answer, {
      operation,
      result: answer.kind,
      call_ms: Math.round(monotonicMs() - startedMs),
    })
    return answer
  }
  return {
    ...provider,
    createRequest: (...call) => logCall('create_request', provider.createRequest(...call)),
    getRequest: (...call) => logCall('get_request', provider.getRequest(...call)),
    getPayment: (...call) => logCall('get_payment', provider.getPayment(...call)),
    cancelRequest: (...call) => logCall('cancel_request', provider.cancelRequest(...call)),
    getBalance: () => logCall('get_balance', provider.getBalance()),
    listTransactions: (...call) => logCall('list_transactions', provider.listTransactions(...call)),
  }
}

/** The refusal of a single payment is no provider failure: `trouble` is 0. */
function logOutcome(log: Deps['log'], answer: Outcome, fields: LogFields) {
  if (answer.kind === 'refused') {
    const trouble = answer.isAccountWide ? 1 : 0
    return log.warn('provider.call_failed', { ...fields, reason: answer.code, trouble })
  }
  if (!('reason' in answer)) return log.info('provider.called', fields)
  const { reason, code } = { code: undefined, ...answer }
  const failureFields = { ...fields, reason, code, trouble: 1 }
  // Only we can fix our mistake, so it has its own log code and alarm.
  if (answer.kind === 'unanswered' && isOurMistake(answer))
    return log.error('provider.call_refused', failureFields)
  return log.warn('provider.call_failed', failureFields)
}
