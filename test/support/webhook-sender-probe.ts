import { expect } from 'vitest'
import { httpsWebhookSender, type SenderOptions } from '../../shared/webhook/https-webhook-sender.ts'
import type { Script } from './scripted-server.ts'

export const HEADERS = { 'Content-Type': 'application/json', 'X-Gateway-Event': 'payment.succeeded' }
export const BODY = Buffer.from('{"description":"kopi — ☕"}')
/** For servers that never answer; for the others a deadline is far longer than any machine needs. */
export const SHORT = { deadlineMs: 300 }

/** One request by the real sender. */
export const send = async (url: string, options: Partial<SenderOptions> = {}) => {
  const sender = httpsWebhookSender({
    allowLoopback: true,
    monotonicMs: () => performance.now(),
    deadlineMs: 20_000,
    ...options,
  })
  const { durationMs, ...result } = await sender({ url, headers: HEADERS, body: BODY })
  expect(Number.isInteger(durationMs)).toBe(true)
  return result
}

export const answering =
  (status: number, body: string | Buffer = '', headers: Record<string, string> = {}): Script =>
  (response) => {
    response.writeHead(status, headers).end(body)
  }

export const failure = (error: string) => ({ delivered: false, httpStatus: undefined, error, responseBody: undefined })
