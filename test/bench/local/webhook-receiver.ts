import { createServer } from 'node:http'
import * as v from 'valibot'

const Webhook = v.object({ data: v.optional(v.object({ id: v.optional(v.string()) }), {}) })

/** A first attempt that failed comes again after a minute, and would be no measurement. */
const WEBHOOK_WITHIN_MS = 30_000

type Waiting = Map<string, () => void>

const told = (waiting: Waiting, name: string): void => {
  waiting.get(name)?.()
  waiting.delete(name)
}

/** A merchant's server: says when the webhook of a payment, or that of a delivery, has come. */
export const startWebhookReceiver = async ({ hangs = () => false }: { readonly hangs?: () => boolean } = {}) => {
  const waiting: Waiting = new Map()
  const came = new Map<string, number>()
  let awaited: { readonly deliveries: number; readonly resolve: () => void } | undefined
  const server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8')
    request.on('data', (part: string) => {
      text += part
    })
    request.on('end', () => {
      // A hanging server takes everything and says nothing.
      if (hangs()) return
      response.writeHead(200).end('ok')
      came.set(String(request.headers['x-gateway-delivery-id']), performance.now())
      if (came.size === awaited?.deliveries) awaited.resolve()
      const { id } = v.parse(Webhook, JSON.parse(text)).data
      if (id !== undefined) told(waiting, id)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' ? (address?.port ?? 0) : 0
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    /** Resolves when the payment's webhook comes; asked for before it can. Rejects when it is much too late. */
    webhookOf: (paymentId: string) =>
      new Promise<void>((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`no webhook of ${paymentId} came`)), WEBHOOK_WITHIN_MS)
        waiting.set(paymentId, () => {
          clearTimeout(late)
          resolve()
        })
      }),
    /** Resolves when so many deliveries have come; asked for by one at a time. Rejects when it is much too late. */
    whenCame: (deliveries: number) =>
      new Promise<void>((resolve, reject) => {
        if (came.size >= deliveries) return resolve()
        const late = setTimeout(
          () => reject(new Error(`${came.size} of ${deliveries} webhooks came`)),
          WEBHOOK_WITHIN_MS,
        )
        awaited = {
          deliveries,
          resolve: () => {
            clearTimeout(late)
            resolve()
          },
        }
      }),
    /** When each delivery came last, by its id, on this process's clock. */
    came,
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

export type WebhookReceiver = Awaited<ReturnType<typeof startWebhookReceiver>>
