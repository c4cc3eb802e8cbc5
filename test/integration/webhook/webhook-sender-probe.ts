import { execFile } from 'node:child_process'
import type { Socket } from 'node:net'
import { promisify } from 'node:util'
import { expect } from 'vitest'
import {
  httpsWebhookSender,
  type SenderOptions,
} from '../../../shared/webhook/send/https-webhook-sender.ts'
import { type Certificate, startTcpServer } from '../../support/https-servers.ts'
import { NEVER_MS } from '../../support/patience.ts'

const HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'application/json',
  'X-Gateway-Event': 'payment.succeeded',
}
export const BODY = Buffer.from('{"description":"kopi — ☕"}')
/** The deadline for servers that never answer. */
export const SHORT = { deadlineMs: 300 }

/** For all other servers: no timeout ends the attempt. */
export const PATIENT = { deadlineMs: NEVER_MS, bodyGraceMs: NEVER_MS }

export async function send(url: string, options: Partial<SenderOptions> = {}, headers = HEADERS) {
  const monotonicMs = () => performance.now()
  const sender = httpsWebhookSender({
    allowLoopbackWebhooks: true,
    monotonicMs,
    ...PATIENT,
    ...options,
  })
  const { durationMs, ...result } = await sender({ url, headers, body: BODY })
  expect(Number.isInteger(durationMs)).toBe(true)
  return result
}

/**
 * Sends one request to each URL from a process that trusts the certificate: node reads its trusted
 * certificates only when it starts.
 */
export async function sendTrusting(
  { certFile }: Certificate,
  urls: readonly string[],
): Promise<unknown> {
  const program = `
    import { httpsWebhookSender } from './shared/webhook/send/https-webhook-sender.ts'
    const send = httpsWebhookSender({ allowLoopbackWebhooks: true, monotonicMs: () => 0, ...${JSON.stringify(PATIENT)} })
    const urls = ${JSON.stringify(urls)}
    const results = await Promise.all(urls.map((url) => send({ url, headers: {}, body: Buffer.from('{}') })))
    console.log(JSON.stringify(results))`
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--input-type=module', '--eval', program],
    { env: { ...process.env, NODE_EXTRA_CA_CERTS: certFile } },
  )
  return JSON.parse(stdout)
}

export async function tcpUrl(
  scheme: 'http' | 'https',
  ...listener: Parameters<typeof startTcpServer>
) {
  return `${scheme}://127.0.0.1:${await startTcpServer(...listener)}/`
}

export function answerWith(text: string) {
  return (socket: Socket) => void socket.once('data', () => socket.end(text))
}
