import type { LocalRequest } from '../local-http-server.ts'
import { parseJson } from './parse-input.ts'
import { ProviderError } from './provider-error.ts'
import type { SimulatorCore } from './simulator-core.ts'

/**
 * The simulator's control surface (design section 6), which the real provider does not have. Answers every call with
 * what the JSON body is to be; throws `ProviderError` for a refused one.
 */
export const answerControlCall = (core: SimulatorCore, request: LocalRequest): unknown => {
  const [resource, id, action] = request.path.slice('/_simulator/'.length).split('/')
  switch (`${request.method} ${resource ?? ''}${id === undefined ? '' : `/{id}/${action ?? ''}`}`) {
    case 'GET payment_requests':
      return core.findPaymentRequests(request.query.get('reference_id') ?? '')
    case 'POST payment_requests/{id}/fail':
      return core.failPaymentRequest(id ?? '', parseJson(request.body.toString('utf8')))
    case 'POST payment_requests/{id}/expire':
      return core.expirePaymentRequest(id ?? '')
    case 'GET calls':
      return core.callCounts()
    case 'DELETE calls':
      core.resetCalls()
      return core.callCounts()
    case 'GET faults':
      return core.armedFaults()
    case 'POST faults':
      core.orderFault(parseJson(request.body.toString('utf8')))
      return core.armedFaults()
    case 'DELETE faults':
      core.clearFaults()
      return core.armedFaults()
    default:
      throw new ProviderError('DATA_NOT_FOUND', `no control call ${request.method} ${request.path}`)
  }
}
