import { expect } from 'vitest'
import type { Client } from '../../../shared/client/client.ts'
import { minor } from '../../../shared/money.ts'
import type {
  ProviderPayment,
  ProviderRequestStatus,
  ProviderTransaction,
  TransactionPage,
} from '../../../shared/provider/provider.ts'
import { NOT_SETTLED, settledRow } from '../../support/fake-provider.ts'
import { aRequest, aStoredClient, create, OVO_REQUEST } from '../../support/payment-builders.ts'
import { type TestDeps, testDeps } from '../../support/test-deps.ts'

/** The client's next request with the same key. */
export const again = (deps: TestDeps, client: Client) => create(deps, client, aRequest(OVO_REQUEST), 'key-1')

/** A push whose answer was lost twelve seconds after the claim, and whose minute is over unless told otherwise. */
export const lostPush = async (waitedSeconds = 60) => {
  const deps = testDeps()
  const client = await aStoredClient(deps)
  deps.provider.script('createRequest', async (input, timeoutMs) => {
    await deps.provider.healthy.createRequest(input, timeoutMs)
    deps.clock.advance(12)
    return { kind: 'unknown', reason: 'timeout' }
  })
  await again(deps, client).catch(() => undefined)
  deps.provider.heal('createRequest')
  deps.clock.advance(waitedSeconds)
  const [{ paymentRequestId, reference } = deps.provider.requestOf('the first')] = deps.provider.requests.values()
  return {
    deps,
    client,
    reference,
    row: (status: ProviderTransaction['status'], fields: Partial<ProviderTransaction> = {}) => {
      const of = { providerPaymentId: `py-${crypto.randomUUID()}`, reference }
      return settledRow(of, deps.now(), { ...NOT_SETTLED, paymentRequestId, status, ...fields })
    },
    /** The provider's rows, and whatever its filter lets through. */
    show: (transactions: readonly ProviderTransaction[], more: Partial<TransactionPage> = {}) =>
      deps.provider.script('listTransactions', async () => ({
        kind: 'found',
        value: { transactions, hasMore: false, ...more },
      })),
    /** What the provider says of a row's payment, and of its request. */
    tell: (
      { providerPaymentId, reference: of }: ProviderTransaction,
      status: ProviderPayment['status'],
      capturedMinor = 0,
      requestStatus: ProviderRequestStatus = 'open',
    ) => {
      const captured = { currency: 'IDR', status, capturedMinor: minor(capturedMinor) }
      deps.provider.payments.set(providerPaymentId, { providerPaymentId, paymentRequestId, reference: of, ...captured })
      const told = { reference: of, status: requestStatus, latestPaymentId: providerPaymentId }
      deps.provider.requests.set(paymentRequestId, { ...deps.provider.requestOf(paymentRequestId), ...told })
    },
    expectSecondPush: async () => {
      const { payment } = await again(deps, client)
      expect(payment).toMatchObject({ status: 'pending', attempt: 2 })
      expect(deps.provider.countOf('createRequest')).toBe(2)
    },
    expectHeldBack: async (words: string) => {
      await expect(again(deps, client)).rejects.toThrow(words)
      expect(deps.provider.countOf('createRequest')).toBe(1)
    },
  }
}
