import type { Deps } from '../deps.ts'
import type { Provider } from './provider.ts'

type Outcome = {
  readonly kind: string
  readonly reason?: string
  readonly code?: string
  readonly ofAccount?: boolean
}

/** What an operator should see in the log; everything else is an answer like any other. */
const FAILED: ReadonlySet<string> = new Set(['unanswered', 'unknown', 'refused', 'not_executed'])

/** A refusal of one payment, such as an amount beyond its channel's limit, is an answer too: the provider is well. */
const isTrouble = ({ kind, ofAccount = false }: Outcome): boolean => kind !== 'refused' || ofAccount

/** The provider, with one log line for every call: operation, how long it took, and the reason where it went wrong. */
export const loggedProvider = (
  provider: Provider,
  { log, monotonicMs }: Pick<Deps, 'log' | 'monotonicMs'>,
): Provider => {
  const noted = async <Answer extends Outcome>(operation: string, answering: Promise<Answer>): Promise<Answer> => {
    const startedMs = monotonicMs()
    const answer = await answering
    const fields = { operation, result: answer.kind, duration_ms: Math.round(monotonicMs() - startedMs) }
    if (FAILED.has(answer.kind)) {
      const trouble = isTrouble(answer) ? 1 : 0
      log.warn('provider.call_failed', { ...fields, reason: answer.reason ?? answer.code, trouble })
    } else {
      log.info('provider.called', fields)
    }
    return answer
  }
  return {
    createRequest: (input, timeoutMs) => noted('create_request', provider.createRequest(input, timeoutMs)),
    getRequest: (id, timeoutMs) => noted('get_request', provider.getRequest(id, timeoutMs)),
    getPayment: (id, timeoutMs) => noted('get_payment', provider.getPayment(id, timeoutMs)),
    cancelRequest: (id, timeoutMs) => noted('cancel_request', provider.cancelRequest(id, timeoutMs)),
    listTransactions: (filter, timeoutMs) => noted('list_transactions', provider.listTransactions(filter, timeoutMs)),
  }
}
