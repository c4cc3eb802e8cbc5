import { expect } from 'vitest'
import { minor } from '../../../shared/money.ts'
import type {
  ProviderPayment,
  ProviderRequestStatus,
  ProviderTransaction,
  TransactionPage,
} from '../../../shared/provider/provider.ts'
import { NOT_SETTLED, settledRow } from '../../support/fake-provider.ts'
import { OVO_REQUEST } from '../../support/payment-builders.ts'
import { aCreate } from './a-create.ts'

/** A push whose answer was lost twelve seconds after the claim, and whose minute is over unless told otherwise. */
export const lostPush = async (waitedSeconds = 60) => {
  const scene = await aCreate(OVO_REQUEST)
  const { deps, make, asked } = scene
  deps.provider.script('createRequest', async (input, timeoutMs) => {
    await deps.provider.healthy.createRequest(input, timeoutMs)
    deps.clock.advance(12)
    return { kind: 'unknown', reason: 'timeout' }
  })
  await make().catch(() => undefined)
  deps.provider.heal('createRequest')
  deps.clock.advance(waitedSeconds)
  const [{ paymentRequestId, reference } = deps.provider.requestOf('the first')] = deps.provider.requests.values()
  return {
    ...scene,
    reference,
    row: (status: ProviderTransaction['status'], fields: Partial<ProviderTransaction> = {}) => {
      const of = { providerPaymentId: `py-${crypto.randomUUID()}`, reference }
      return settledRow(of, deps.now(), { ...NOT_SETTLED, paymentRequestId, status, ...fields })
    },
    /** The provider lists these rows, for any filter. */
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
      expect((await make()).payment).toMatchObject({ status: 'pending', attempt: 2 })
      expect(asked()).toBe(2)
    },
    expectHeldBack: async (words: string) => {
      await expect(make()).rejects.toThrow(words)
      expect(asked()).toBe(1)
    },
  }
}
