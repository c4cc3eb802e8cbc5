import { expect } from 'vitest'
import type { Client } from '../../shared/client/client.ts'
import { minor } from '../../shared/money.ts'
import type {
  CreateAnswer,
  ProviderPayment,
  ProviderRequestStatus,
  ProviderTransaction,
  TransactionPage,
} from '../../shared/provider/provider.ts'
import { aRequest, aStoredClient, create, OVO_REQUEST } from './payment-builders.ts'
import { type TestDeps, testDeps } from './test-deps.ts'

export const UNKNOWN: CreateAnswer = { kind: 'unknown', reason: 'timeout' }

/** The client's next request with the same key. */
export const again = (deps: TestDeps, client: Client) => create(deps, client, aRequest(OVO_REQUEST), 'key-1')

/** The provider's rows, and whatever its filter lets through. */
export const showRows = (deps: TestDeps, page: Partial<TransactionPage>) =>
  deps.provider.script('listTransactions', async () => ({
    kind: 'found',
    value: { transactions: [], hasMore: false, ...page },
  }))

/** A push whose answer was lost twelve seconds after the claim, and whose minute is over. */
export const lostPush = async () => {
  const deps = testDeps()
  const client = await aStoredClient(deps)
  let reference = ''
  deps.provider.script('createRequest', async (input) => {
    reference = input.reference
    deps.clock.advance(12)
    return UNKNOWN
  })
  await again(deps, client).catch(() => undefined)
  deps.provider.heal('createRequest')
  deps.clock.advance(60)
  const paymentRequestId = `pr-${crypto.randomUUID()}`
  const row = (status: ProviderTransaction['status'], fields: Partial<ProviderTransaction> = {}) => ({
    type: 'payment' as ProviderTransaction['type'],
    transactionId: `txn-${crypto.randomUUID()}`,
    providerPaymentId: `py-${crypto.randomUUID()}`,
    paymentRequestId,
    reference,
    status,
    currency: 'IDR',
    amountMinor: minor(100_000),
    keptMinor: undefined,
    settledAt: undefined,
    updatedAt: deps.now(),
    ...fields,
  })
  /** What the provider says of a row's payment, and of the request behind it. */
  const upstream = (
    { providerPaymentId, reference: of }: ProviderTransaction,
    payment: { readonly status: ProviderPayment['status']; readonly capturedMinor?: number },
    requestStatus: ProviderRequestStatus = 'open',
  ) => {
    const { status, capturedMinor = 0 } = payment
    deps.provider.payments.set(providerPaymentId, {
      providerPaymentId,
      paymentRequestId,
      reference: of,
      currency: 'IDR',
      status,
      capturedMinor: minor(capturedMinor),
    })
    deps.provider.script('getRequest', async () => ({
      kind: 'found',
      value: {
        paymentRequestId,
        reference: of,
        status: requestStatus,
        latestPaymentId: providerPaymentId,
        destination: undefined,
      },
    }))
  }
  return { deps, client, row, upstream, reference }
}

export const expectSecondPush = async (deps: TestDeps, client: Client) => {
  const { payment } = await again(deps, client)
  expect(payment).toMatchObject({ status: 'pending', attempt: 2 })
  expect(deps.provider.countOf('createRequest')).toBe(2)
}

export const expectHeldBack = async (deps: TestDeps, client: Client, words: string) => {
  await expect(again(deps, client)).rejects.toThrow(words)
  expect(deps.provider.countOf('createRequest')).toBe(1)
}
