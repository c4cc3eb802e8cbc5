import type { Provider, ProviderRequest, ProviderTransaction } from '../../shared/provider/provider.ts'
import { xenditProvider } from '../../shared/provider/xendit/xendit-provider.ts'
import { type aSimulator, SECRET_KEY } from './provider-simulator-harness.ts'
import { type Asked, aCreateInput } from './xendit-provider.ts'

export const TIMEOUT_MS = 5_000

type Simulator = Awaited<ReturnType<typeof aSimulator>>

export const adapter = (simulator: Simulator, secretKey = SECRET_KEY): Provider =>
  xenditProvider({
    baseUrl: simulator.simulator.url,
    stage: 'local',
    nowMs: simulator.clock.nowMs,
    secrets: { get: async () => JSON.stringify({ secret_key: secretKey }) },
  })

export const arm = (simulator: Simulator, target: string, fault: string, value?: unknown) =>
  simulator.call('POST', '/_simulator/faults', { target, fault, ...(value !== undefined && { value }) })

export const createOn = async (provider: Provider, input: Asked = {}): Promise<ProviderRequest> => {
  const answer = await provider.createRequest(aCreateInput(input), TIMEOUT_MS)
  if (answer.kind !== 'created') throw new Error(`not created: ${JSON.stringify(answer)}`)
  return answer.request
}

export const pay = (simulator: Simulator, { paymentRequestId }: ProviderRequest, amount?: number) =>
  simulator.call('POST', `/v3/payment_requests/${paymentRequestId}/simulate`, amount === undefined ? {} : { amount })

export const transactionsOf = async (
  provider: Provider,
  reference: string,
): Promise<readonly ProviderTransaction[]> => {
  const answer = await provider.listTransactions({ reference, limit: 10 }, TIMEOUT_MS)
  if (answer.kind !== 'found') throw new Error(`not found: ${answer.kind}`)
  return answer.value.transactions
}
