import { randomUUID } from 'node:crypto'
import { Agent, request as httpRequest } from 'node:http'
import { escapeHtml } from '../process/html-page.ts'
import type { LocalClock } from '../process/local-clock.ts'
import {
  jsonReply,
  type LocalAnswer,
  type LocalPort,
  type LocalReply,
  type LocalRequest,
  startLocalHttpServer,
} from '../process/local-http-server.ts'
import { answerControlCall } from './answer-control-call.ts'
import { answerProviderCall } from './answer-provider-call.ts'
import type { OutgoingCallback } from './callbacks.ts'
import { ProviderError } from './provider-error.ts'
import { isOpen, type PaymentRequest } from './provider-objects.ts'
import { createSimulatorCore, type SimulatorCore } from './simulator-core.ts'
import { type Change, openStateFile } from './simulator-store.ts'

type ProviderSimulatorOptions = LocalPort & {
  readonly clock: LocalClock
  readonly secretKey: string
  /** Called for each callback, so the receiver may start later. */
  readonly callbackUrl: () => string
  readonly callbackToken: string
  /** Without a file the state is only in memory. */
  readonly stateFile?: string | undefined
}

/** As short as behind the provider's load balancers: a caller must not reuse a connection. */
const KEEP_ALIVE_MS = 1_000

/**
 * Serves the provider's API, the control calls under `/_simulator`, and the checkout pages, on
 * 127.0.0.1. A payment request is paid only by its `simulate` call or its checkout page. With a
 * state file, every change is on disk before its answer is sent. `close` aborts connections and
 * callbacks in progress, and cancels all timers.
 */
export async function startProviderSimulator(options: ProviderSimulatorOptions) {
  const file = options.stateFile === undefined ? undefined : openStateFile(options.stateFile)
  const sender = createCallbackSender(options.callbackUrl)
  let baseUrl = ''

  const save = (changes: readonly Change[]) => {
    if (file?.isLong()) file.rewrite(core.snapshot())
    else file?.append(changes)
  }

  const core = createSimulatorCore(
    {
      clock: options.clock,
      newUuid: randomUUID,
      baseUrl: () => baseUrl,
      callbackToken: options.callbackToken,
      sendCallback: sender.send,
      save,
    },
    file?.loaded,
  )
  file?.rewrite(core.snapshot())

  const stop = async (server?: { close(): Promise<void> }) => {
    core.close()
    sender.close()
    await server?.close()
  }

  try {
    const server = await startLocalHttpServer({
      port: options.port,
      family: options.family,
      keepAliveMs: KEEP_ALIVE_MS,
      answer: (request) => answer(core, options.secretKey, request),
    })
    baseUrl = server.url
    const { port, url } = server
    return { port, url, callbacksEnded: core.callbacksEnded, close: () => stop(server) }
  } catch (error) {
    await stop()
    throw error
  }
}

// How long the provider waits for an answer, in real time.
const ATTEMPT_TIMEOUT_MS = 30_000

/**
 * Posts a bounded number of callbacks at a time. `send` resolves with the status, and rejects after
 * a network error or the timeout. `close` rejects the requests in progress.
 */
function createCallbackSender(url: () => string) {
  const agent = new Agent({ keepAlive: true, maxSockets: 100 })
  const controller = new AbortController()

  const send = ({ headers, body }: OutgoingCallback) =>
    new Promise<number>((resolve, reject) => {
      const timeout = AbortSignal.timeout(ATTEMPT_TIMEOUT_MS)
      const signal = AbortSignal.any([controller.signal, timeout])
      const options = {
        agent,
        method: 'POST',
        signal,
        headers: { ...headers, 'content-length': Buffer.byteLength(body) },
      }
      const call = httpRequest(url(), options, (response) => {
        // The body is read to free the connection.
        response.on('error', reject).resume()
        resolve(response.statusCode ?? 0)
      })
      call.on('error', reject)
      call.end(body)
    })

  const close = () => {
    controller.abort()
    agent.destroy()
  }

  return { send, close }
}

function answer(core: SimulatorCore, secretKey: string, request: LocalRequest): LocalAnswer {
  try {
    if (/^\/_simulator(\/|$)/.test(request.path))
      return jsonReply(200, answerControlCall(core, request))
    if (request.path.startsWith('/checkout/')) return answerCheckout(core, request)
    const reply = answerProviderCall(core, secretKey, {
      ...request,
      body: request.body.toString('utf8'),
    })
    if (!reply)
      throw new ProviderError('DATA_NOT_FOUND', `no resource ${request.method} ${request.path}`)
    if (reply.kind === 'silence') return { hang: true }
    return { ...jsonReply(reply.status, reply.body, reply.headers), delayMs: reply.delayMs }
  } catch (error) {
    if (error instanceof ProviderError) return jsonReply(error.status, error.toBody())
    throw error
  }
}

/** `GET /checkout/{id}` shows the wallet's page. `POST` pays, then redirects to the shop. */
function answerCheckout(core: SimulatorCore, request: LocalRequest): LocalReply {
  const id = request.path.slice('/checkout/'.length)
  try {
    const paymentRequest = core.getPaymentRequest(id)
    if (request.method === 'GET') return page(200, checkoutHtml(paymentRequest))
    if (request.method !== 'POST') return page(405, '<p>This page accepts only GET and POST.</p>')
    core.simulatePayment(id)
    const location = paymentRequest.channel_properties['success_return_url'] ?? request.path
    return { status: 303, headers: { location }, body: '' }
  } catch (error) {
    if (error instanceof ProviderError)
      return page(error.status, `<p>${escapeHtml(error.message)}</p>`)
    throw error
  }
}

function page(status: number, content: string): LocalReply {
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': "default-src 'none'",
    },
    body: `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Simulated checkout</title></head><body><h1>Simulated checkout</h1>${content}</body></html>`,
  }
}

function checkoutHtml(request: PaymentRequest) {
  const amount = request.request_amount.toLocaleString('id-ID')
  const summary = `${escapeHtml(request.channel_code)}: Rp ${amount} for ${escapeHtml(request.reference_id)}`
  const form = isOpen(request)
    ? '<form method="post"><button type="submit">Pay</button></form>'
    : `<p>This payment is ${escapeHtml(request.status)}.</p>`
  return `<p>${summary}</p>${form}`
}
