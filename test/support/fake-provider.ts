import { minor, negated, ZERO } from '../../shared/money.ts'
import type {
  CreateRequestInput,
  Provider,
  ProviderOperation,
  ProviderPayment,
  ProviderRequest,
  ProviderTransaction,
  TransactionFilter,
  TransactionPage,
  Unanswered,
} from '../../shared/provider/provider.ts'
import { isNonWalletCode } from '../../shared/provider/xendit/xendit-channels.ts'
import { addMs, MINUTE_MS, type Timestamp } from '../../shared/time.ts'

export function fakeProvider(now?: () => Timestamp) {
  const calls: { readonly operation: ProviderOperation; readonly id: string }[] = []
  const requests = new Map<string, ProviderRequest & { readonly input: CreateRequestInput }>()
  const payments = new Map<string, ProviderPayment>()
  const transactions: ProviderTransaction[] = []
  const requestOf = (id: string) => {
    const request = requests.get(id)
    if (!request) throw new Error('the provider knows no such request')
    return request
  }
  const healthy: Provider = {
    createRequest: async (input) => {
      const paymentRequestId = `pr-${crypto.randomUUID()}`
      const { reference } = input
      const shown = {
        status: 'open',
        latestPaymentId: undefined,
        destination: destinationOf(input),
      } as const
      const request = { paymentRequestId, reference, ...shown, input }
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
    listTransactions: async (filter) => ({
      kind: 'found',
      value: pageOfRows(transactions, filter),
    }),
    getBalance: async () => ({ kind: 'found', value: { account: 'CASH', amountMinor: ZERO } }),
    pauseMs: () => 0,
    callsLeft: () => undefined,
    callsOfMinute: () => undefined,
    isNonWalletCode,
  }
  const answers = { ...healthy }
  const recorded = <Name extends ProviderOperation>(operation: Name) =>
    ((asked: never, timeoutMs: number) => {
      const { providerPaymentId, reference = '' }: Partial<ProviderTransaction> = Object(asked)
      calls.push({
        operation,
        id: typeof asked === 'string' ? asked : (providerPaymentId ?? reference),
      })
      return answers[operation](asked, timeoutMs)
    }) as Provider[Name]

  return {
    calls,
    requests,
    payments,
    /** A test may push more rows. */
    transactions,
    /** The provider's answers without a script; these calls are not recorded. */
    healthy,
    createRequest: recorded('createRequest'),
    getRequest: recorded('getRequest'),
    getPayment: recorded('getPayment'),
    cancelRequest: recorded('cancelRequest'),
    listTransactions: recorded('listTransactions'),
    getBalance: recorded('getBalance'),
    isNonWalletCode,
    pauseMs: (operation: ProviderOperation) => answers.pauseMs(operation),
    callsLeft: (operation: ProviderOperation) => answers.callsLeft(operation),
    callsOfMinute: (operation: ProviderOperation) => answers.callsOfMinute(operation),
    script: <Name extends keyof Provider>(name: Name, implementation: Provider[Name]) => {
      answers[name] = implementation
    },
    /** Runs before each usual answer. */
    before: <Name extends ProviderOperation>(
      name: Name,
      run: (asked: Parameters<Provider[Name]>[0]) => unknown,
    ) => {
      answers[name] = (async (asked: never, timeoutMs: number) => {
        await run(asked)
        return healthy[name](asked, timeoutMs)
      }) as Provider[Name]
    },
    /** Every call gets this answer until the operation is healed. */
    answer: <Name extends ProviderOperation>(
      name: Name,
      answer: Awaited<ReturnType<Provider[Name]>>,
    ) => void Object.assign(answers, { [name]: async () => answer }),
    silence: (
      name: 'getPayment' | 'listTransactions' | 'getBalance',
      reason: Unanswered['reason'] = 'unreachable',
    ) => {
      answers[name] = async () => ({ kind: 'unanswered', reason })
    },
    showBalance: (amount: number) => {
      const value = { account: 'CASH', amountMinor: minor(amount) }
      answers.getBalance = async () => ({ kind: 'found', value })
    },
    heal: (name: keyof Provider) => void Object.assign(answers, { [name]: healthy[name] }),
    /** Throws if there is no such request. */
    requestOf,
    pay: (paymentRequestId: string, amountMinor?: number) => {
      const { reference, status, input } = requestOf(paymentRequestId)
      const providerPaymentId = `py-${crypto.randomUUID()}`
      payments.set(providerPaymentId, {
        providerPaymentId,
        paymentRequestId,
        reference,
        currency: 'IDR',
        status: 'captured',
        capturedMinor: minor(amountMinor ?? input.amountMinor),
        capturedAt: now?.(),
      })
      // The provider does not change a final request, even when money arrives late.
      const ended = {
        status: status === 'open' ? 'succeeded' : status,
        latestPaymentId: providerPaymentId,
      } as const
      requests.set(paymentRequestId, { ...requestOf(paymentRequestId), ...ended })
      return providerPaymentId
    },
    close: (paymentRequestId: string, status: 'failed' | 'expired' | 'cancelled') =>
      void requests.set(paymentRequestId, { ...requestOf(paymentRequestId), status }),
    countOf: (operation: ProviderOperation) =>
      calls.filter((call) => call.operation === operation).length,
  }
}

function destinationOf({ method, channelCode }: CreateRequestInput) {
  if (method === 'virtual_account') return '381652390000001'
  if (method === 'qris') return '00020101021226-a-qr-string'
  return channelCode === 'OVO' ? undefined : `https://checkout.example/${channelCode}`
}

export const NOT_SETTLED = { keptMinor: undefined, settledAt: undefined } as const

function found<T>(value: T | undefined) {
  return value ? ({ kind: 'found', value } as const) : ({ kind: 'not_found' } as const)
}

export function pageOfRows(
  rows: readonly ProviderTransaction[],
  filter: TransactionFilter,
): TransactionPage {
  const matching = rows.toReversed().filter(
    ({ updatedAt, createdAt, ...row }) =>
      (filter.updatedFrom === undefined || updatedAt >= filter.updatedFrom) &&
      (filter.updatedTo === undefined || updatedAt <= filter.updatedTo) &&
      (filter.createdFrom === undefined || createdAt >= filter.createdFrom) &&
      (filter.createdTo === undefined || createdAt <= filter.createdTo) &&
      (filter.category === undefined || row.category === filter.category) &&
      (filter.rows !== 'reversed' || row.status === 'reversed') &&
      // The provider's filter knows only the types of its list.
      (filter.rows !== 'others' ||
        (row.type !== 'payment' && row.type !== 'unknown' && !row.isDisputeWon)) &&
      // Without `rows` the adapter asks for payments alone.
      (filter.rows !== undefined || row.type === 'payment') &&
      (filter.providerPaymentId === undefined ||
        row.providerPaymentId === filter.providerPaymentId) &&
      (filter.reference === undefined || row.reference === filter.reference),
  )
  const start = matching.findIndex(({ transactionId }) => transactionId === filter.afterId) + 1
  const transactions = matching.slice(start, start + filter.limit)
  return { transactions, hasMore: start + transactions.length < matching.length }
}

export function settledRow(
  { providerPaymentId, reference }: Pick<ProviderTransaction, 'providerPaymentId' | 'reference'>,
  at: Timestamp,
  fields: Partial<ProviderTransaction> = {},
): ProviderTransaction {
  const { amountMinor, keptMinor } = {
    amountMinor: minor(100_000),
    keptMinor: minor(4_440),
    ...fields,
  }
  const { type, status } = { type: 'payment', status: 'success', ...fields } as const
  const movedMinor =
    type === 'return'
      ? negated(amountMinor)
      : amountMinor - (fields.isDisputeWon === true ? 0 : (keptMinor ?? 0))
  return {
    ...(type === 'payment' &&
      status === 'success' &&
      providerPaymentId.startsWith('py-') && { isCaptured: true }),
    type,
    transactionId: `txn_${crypto.randomUUID()}`,
    providerPaymentId,
    paymentRequestId: undefined,
    reference,
    status,
    currency: 'IDR',
    providerMinor: minor(movedMinor),
    settledAt: addMs(at, -MINUTE_MS),
    createdAt: at,
    updatedAt: at,
    ...fields,
    amountMinor,
    keptMinor,
  }
}

export type FakeProvider = ReturnType<typeof fakeProvider>
