import * as v from 'valibot'
import { startLocalHttpServer } from '../../../infra/local/process/local-http-server.ts'

const Webhook = v.object({ data: v.optional(v.object({ id: v.optional(v.string()) }), {}) })

/** A first attempt that failed comes again after a minute, and would be no measurement. */
const WEBHOOK_WITHIN_MS = 30_000

/** A merchant's server: says when the webhook of a delivery, or of a payment, came. A hanging one takes it and says nothing. */
export const startWebhookReceiver = async (hangs: () => boolean = () => false) => {
  const arrivals = new Map<string, PromiseWithResolvers<number>>()
  const came = new Set<string>()
  const arrivalAt = (id: string) => {
    const arrival = arrivals.get(id) ?? Promise.withResolvers<number>()
    arrivals.set(id, arrival)
    return arrival
  }
  const { url, close } = await startLocalHttpServer({
    port: 0,
    answer: ({ headers, body }) => {
      if (hangs()) return { hang: true }
      const { id } = v.parse(Webhook, JSON.parse(body.toString('utf8'))).data
      for (const name of [headers['x-gateway-delivery-id'], id]) {
        if (typeof name !== 'string') continue
        came.add(name)
        arrivalAt(name).resolve(performance.now())
      }
      return { status: 200, body: 'ok' }
    },
  })
  return {
    url: `${url}/hooks`,
    close,
    /** Ids of the deliveries and the payments whose webhooks have come. */
    came: came as ReadonlySet<string>,
    /** Resolves with the time when it comes, or came, on this process's clock. Rejects when it is much too late. */
    arrivalOf: async (id: string): Promise<number> => {
      const { promise, reject } = arrivalAt(id)
      const late = setTimeout(() => reject(new Error(`no webhook of ${id} came`)), WEBHOOK_WITHIN_MS)
      return promise.finally(() => clearTimeout(late))
    },
  }
}

export type WebhookReceiver = Awaited<ReturnType<typeof startWebhookReceiver>>
