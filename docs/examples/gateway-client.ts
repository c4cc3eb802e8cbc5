import { randomUUID } from 'node:crypto'
import type {
  Balance,
  CreatePayment,
  Entry,
  EntryList,
  EventList,
  Payment,
  PaymentList,
  Redelivered,
  RedeliverToEndpoint,
  Settlement,
  SettlementList,
  WebhookDelivery,
  WebhookDeliveryList,
  WebhookEndpointList,
} from './gateway-schemas.ts'
import { GatewayRefused, type Question, type RetryOptions, retryingGateway } from './retrying-gateway.ts'

/*
 * A client for the gateway, to be copied with the two files it imports; nothing else is needed. Types are those of
 * docs/openapi.yaml. What may be tried again is, until a deadline: see retrying-gateway.ts.
 */

export type ClientOptions = RetryOptions & { readonly baseUrl: string; readonly apiKey: string }

type CreateOptions = {
  /**
   * What makes the payment one: keep it with your order, and use it again whenever you ask again. A random one holds for
   * the tries of this call alone; when they come to nothing, `GatewayRefused.idempotencyKey` says which it was.
   */
  readonly idempotencyKey?: string
}

type DeliveryFilter = {
  readonly status?: WebhookDelivery['status']
  readonly endpoint_id?: string
  readonly event_id?: string
}

type Missed = Pick<RedeliverToEndpoint, 'since' | 'status'>

type ListFilter = { readonly status?: Payment['status']; readonly external_reference?: string }

const PER_PAGE = 100

/** All that a merchant can ask. */
export const gatewayClient = (options: ClientOptions) => {
  const ask = retryingGateway(options)

  const get = <Answer>(path: string, query: Question['query'] = {}) => ask<Answer>({ method: 'GET', path, query })

  const getPayment = (id: string) => get<Payment>(`/v1/payments/${encodeURIComponent(id)}`)

  return {
    createPayment: (body: CreatePayment, { idempotencyKey = randomUUID() }: CreateOptions = {}): Promise<Payment> =>
      ask<Payment>({ method: 'POST', path: '/v1/payments', body, idempotencyKey }),

    getPayment,

    /** The payment as it is then: `cancelled`, also when another try of this call had done it. */
    cancelPayment: async (id: string): Promise<Payment> => {
      try {
        return await ask<Payment>({ method: 'POST', path: `/v1/payments/${encodeURIComponent(id)}/cancel` })
      } catch (error) {
        const payment = isOfState(error) ? await getPayment(id) : undefined
        if (payment?.status === 'cancelled') return payment
        throw error
      }
    },

    /** Undefined means "not yet": create it with the same key, never with a new one. */
    findPaymentOfKey: async (idempotencyKey: string): Promise<Payment | undefined> =>
      (await get<PaymentList>('/v1/payments', { idempotency_key: idempotencyKey })).data[0],

    /** Every payment that fits, newest first. One that comes in meanwhile may be missing, and none is shown twice. */
    listPayments: (filter: ListFilter = {}): AsyncGenerator<Payment, void> =>
      everyItem((page) => get<PaymentList>('/v1/payments', { ...filter, page, per_page: PER_PAGE })),

    getBalance: () => get<Balance>('/v1/balance', { include: 'settlements' }),

    getSettlement: (id: string) => get<Settlement>(`/v1/settlements/${encodeURIComponent(id)}`),

    listSettlements: (): AsyncGenerator<Settlement, void> =>
      everyItem((page) => get<SettlementList>('/v1/settlements', { page, per_page: PER_PAGE })),

    /** The entries of a settlement: their sums are the settlement's. */
    listSettlementEntries: (id: string): AsyncGenerator<Entry, void> =>
      everyBehind((after) =>
        get<EntryList>(`/v1/settlements/${encodeURIComponent(id)}/payments`, { after, limit: 1_000 }),
      ),

    /**
     * What happened since, oldest first, until there is no more for now. Handle a page, then keep its `next` and come
     * back with it: young events are shown again, so each once by its `event_id`.
     */
    eventPages: ({ after, since }: { readonly after?: string; readonly since?: string } = {}) =>
      eventPages((position) => get<EventList>('/v1/events', { ...position, limit: PER_PAGE }), { after, since }),

    listWebhookEndpoints: () => get<WebhookEndpointList>('/v1/webhook_endpoints'),

    listWebhookDeliveries: (filter: DeliveryFilter = {}): AsyncGenerator<WebhookDelivery, void> =>
      everyItem((page) => get<WebhookDeliveryList>('/v1/webhook_deliveries', { ...filter, page, per_page: PER_PAGE })),

    getWebhookDelivery: (id: string) => get<WebhookDelivery>(`/v1/webhook_deliveries/${encodeURIComponent(id)}`),

    /** Begins a new round of attempts; refused while one is under way. */
    redeliverWebhook: (id: string) =>
      ask<WebhookDelivery>({
        method: 'POST',
        path: `/v1/webhook_deliveries/${encodeURIComponent(id)}/redeliver`,
        once: true,
      }),

    /** Sends an endpoint what it did not get since a time, until nothing is left. Safe to repeat. */
    redeliverToEndpoint: async (id: string, missed: Missed): Promise<Omit<Redelivered, 'next'>> => {
      const path = `/v1/webhook_endpoints/${encodeURIComponent(id)}/redeliver`
      const sums = { count: 0, passed_over: 0 }
      for (let cursor: string | null = null; ; ) {
        const body: RedeliverToEndpoint = { ...missed, cursor }
        const { count, passed_over: passedOver = 0, next }: Redelivered = await ask({ method: 'POST', path, body })
        sums.count += count
        sums.passed_over += passedOver
        if (next === null) return sums
        cursor = next
      }
    },
  }
}

export type GatewayClient = ReturnType<typeof gatewayClient>

/** A 422 without fields: the request was right, and the thing is in another state. */
const isOfState = (error: unknown): boolean =>
  error instanceof GatewayRefused && error.code === 'validation' && error.fieldErrors === undefined

type CursorPage<Item> = { readonly data: readonly Item[]; readonly next: string | null; readonly has_more: boolean }

async function* everyBehind<Item>(pageOf: (after?: string) => Promise<CursorPage<Item>>): AsyncGenerator<Item, void> {
  for (let after: string | undefined; ; ) {
    const { data, next, has_more: hasMore } = await pageOf(after)
    yield* data
    if (!hasMore || next === null) return
    after = next
  }
}

type EventPosition = { readonly after?: string | undefined; readonly since?: string | undefined }

async function* eventPages(
  pageOf: (position: EventPosition) => Promise<EventList>,
  from: EventPosition,
): AsyncGenerator<{ readonly events: EventList['data']; readonly next: string }, void> {
  for (let position = from; ; ) {
    const { data, next, has_more: hasMore } = await pageOf(position)
    yield { events: data, next }
    if (!hasMore) return
    position = { after: next }
  }
}

/** What came in since the page before has moved rows on to this one. */
const REMEMBERED = 1_000

async function* everyItem<Item extends { readonly id: string }>(
  pageOf: (page: number) => Promise<{ readonly data: readonly Item[] }>,
): AsyncGenerator<Item, void> {
  const seen = new Set<string>()
  for (let page = 1; ; page += 1) {
    const { data } = await pageOf(page)
    for (const item of data.filter(({ id }) => !seen.has(id))) {
      seen.add(item.id)
      yield item
    }
    for (const id of [...seen].slice(0, Math.max(0, seen.size - REMEMBERED))) seen.delete(id)
    if (data.length < PER_PAGE) return
  }
}
