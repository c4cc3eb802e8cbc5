import { minor } from '../../shared/money.ts'
import type { CreateRequestInput, Provider, ProviderPayment, ProviderRequest } from '../../shared/provider/provider.ts'

type Call = { readonly operation: keyof Provider; readonly id: string }

/** A provider made of answers: every method can be replaced, every call is recorded. */
export type FakeProvider = Provider & {
  readonly calls: Call[]
  readonly requests: Map<string, ProviderRequest & { readonly input: CreateRequestInput }>
  readonly payments: Map<string, ProviderPayment>
  /** Replaces one method from now on. */
  script<Name extends keyof Provider>(name: Name, implementation: Provider[Name]): void
  /** The customer pays: the request succeeds and a captured payment appears. Answers the provider payment id. */
  pay(paymentRequestId: string, amountMinor?: number): string
  /** Ends the request without money. */
  close(paymentRequestId: string, status: 'failed' | 'expired' | 'cancelled'): void
  countOf(operation: keyof Provider): number
}

const destinationOf = ({ method, channelCode }: CreateRequestInput) => {
  if (method === 'virtual_account') return '381652390000001'
  if (method === 'qris') return '00020101021226-a-qr-string'
  return channelCode === 'OVO' ? '' : `https://checkout.example/${channelCode ?? ''}`
}

export const fakeProvider = (): FakeProvider => {
  const calls: Call[] = []
  const requests = new Map<string, ProviderRequest & { readonly input: CreateRequestInput }>()
  const payments = new Map<string, ProviderPayment>()
  let next = 1

  const found = <T>(value: T | undefined) =>
    value ? ({ kind: 'found', value } as const) : ({ kind: 'not_found' } as const)

  const implementations: Provider = {
    createRequest: async (input) => {
      const paymentRequestId = `pr-${crypto.randomUUID()}`
      const request = {
        paymentRequestId,
        reference: input.reference,
        status: 'open' as const,
        latestPaymentId: undefined,
        destination: destinationOf(input),
        input,
      }
      requests.set(paymentRequestId, request)
      return { kind: 'created', request }
    },
    getRequest: async (id) => found(requests.get(id)),
    getPayment: async (id) => found(payments.get(id)),
    cancelRequest: async (id) => {
      const request = requests.get(id)
      if (!request) return { kind: 'not_found' }
      if (request.status !== 'open') return { kind: 'final' }
      requests.set(id, { ...request, status: 'cancelled' })
      return { kind: 'cancelled' }
    },
    listTransactions: async () => found({ transactions: [], hasMore: false }),
    pauseMs: () => 0,
  }

  return {
    calls,
    requests,
    payments,
    createRequest: (input, timeoutMs) => {
      calls.push({ operation: 'createRequest', id: input.reference })
      return implementations.createRequest(input, timeoutMs)
    },
    getRequest: (id, timeoutMs) => {
      calls.push({ operation: 'getRequest', id })
      return implementations.getRequest(id, timeoutMs)
    },
    getPayment: (id, timeoutMs) => {
      calls.push({ operation: 'getPayment', id })
      return implementations.getPayment(id, timeoutMs)
    },
    cancelRequest: (id, timeoutMs) => {
      calls.push({ operation: 'cancelRequest', id })
      return implementations.cancelRequest(id, timeoutMs)
    },
    listTransactions: (filter, timeoutMs) => {
      calls.push({ operation: 'listTransactions', id: filter.providerPaymentId ?? filter.reference ?? '' })
      return implementations.listTransactions(filter, timeoutMs)
    },
    pauseMs: (operation) => implementations.pauseMs(operation),
    script: (name, implementation) => {
      implementations[name] = implementation
    },
    pay: (paymentRequestId, amountMinor) => {
      const request = requests.get(paymentRequestId)
      if (!request) throw new Error('no such payment request')
      const providerPaymentId = `py-${crypto.randomUUID()}-${next++}`
      payments.set(providerPaymentId, {
        providerPaymentId,
        paymentRequestId,
        reference: request.reference,
        currency: 'IDR',
        status: 'captured',
        capturedMinor: minor(amountMinor ?? request.input.amountMinor),
      })
      // The provider leaves a request that is final as it is, even when money arrives late.
      const status = request.status === 'open' ? 'succeeded' : request.status
      requests.set(paymentRequestId, { ...request, status, latestPaymentId: providerPaymentId })
      return providerPaymentId
    },
    close: (paymentRequestId, status) => {
      const request = requests.get(paymentRequestId)
      if (!request) throw new Error('no such payment request')
      requests.set(paymentRequestId, { ...request, status })
    },
    countOf: (operation) => calls.filter((call) => call.operation === operation).length,
  }
}
