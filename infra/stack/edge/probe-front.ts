import { request } from 'node:https'
import { TLSSocket } from 'node:tls'
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import * as v from 'valibot'

/** The schedule sends this. */
const ProbeSchema = v.object({
  /** The public name, such as `pay.example.com`. */
  host: v.string(),
  /** A key in the stage's form that was never issued. */
  unknownKey: v.string(),
  keySecret: v.string(),
})
export type Probe = v.InferOutput<typeof ProbeSchema>

export type Answer = {
  readonly status: number
  readonly body: unknown
  readonly certificateEndsAt: number
}

type ProbeMeans = {
  readonly ask: (host: string, key: string) => Promise<Answer>
  /** The canary merchant's key, or undefined while no operator has put one. */
  readonly canaryKey: (secret: string) => Promise<string | undefined>
  readonly nowMs: () => number
}

const secrets = new SecretsManagerClient({ maxAttempts: 2 })

const DAY_MS = 86_400_000
/** AWS renews 60 days before the end, and an alarm tells 30 days before. Now a person must act. */
export const LEAST_DAYS = 7

const Unauthorized = v.object({ message: v.string(), code: v.literal('auth') })
const Balance = v.object({ available_minor: v.number(), pending_minor: v.number() })

/**
 * Calls the gateway through its public name, as a merchant does. Throws if an answer differs from
 * the specification, or the certificate ends soon. The alarm counts runs that did not throw, so a
 * probe that does not run pages too.
 */
export async function probeFront(means: ProbeMeans, { host, unknownKey, keySecret }: Probe) {
  const unknown = await means.ask(host, unknownKey)
  const days = (unknown.certificateEndsAt - means.nowMs()) / DAY_MS
  if (!(days >= LEAST_DAYS)) throw new Error(`the certificate of ${host} ends in ${days} days`)
  if (unknown.status !== 401 || !v.is(Unauthorized, unknown.body))
    throw new Error(`an unknown key got ${unknown.status}, or not the envelope of the gateway`)

  const key = await means.canaryKey(keySecret)
  if (key === undefined) return { days, canary: 'no key' }
  const balance = await means.ask(host, key)
  if (balance.status !== 200 || !v.is(Balance, balance.body))
    throw new Error(`the canary merchant's balance got ${balance.status}, or another shape`)
  return { days, canary: 'read' }
}

export function handler(event: unknown) {
  const means = { ask: askOverTls, canaryKey: storedKey, nowMs: () => Date.now() }
  return probeFront(means, v.parse(ProbeSchema, event))
}

/** Longer than any answer of the gateway; two calls fit into the function's timeout. */
const TIMEOUT_MS = 10_000

function askOverTls(host: string, key: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, 'user-agent': 'gateway-probe' }
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const sent = request({ host, path: '/v1/balance', headers, signal, agent: false }, (reply) => {
      const { socket } = reply
      const end = socket instanceof TLSSocket ? socket.getPeerCertificate().valid_to : ''
      const chunks: Buffer[] = []
      reply.on('data', (chunk: Buffer) => chunks.push(chunk))
      reply.on('error', reject)
      reply.on('end', () =>
        resolve({
          status: reply.statusCode ?? 0,
          body: jsonOf(Buffer.concat(chunks).toString()),
          certificateEndsAt: Date.parse(end),
        }),
      )
    })
    sent.on('error', reject)
    sent.end()
  })
}

function jsonOf(text: string) {
  const parsed = v.safeParse(v.pipe(v.string(), v.parseJson()), text)
  return parsed.success ? parsed.output : undefined
}

/** The stack makes the secret with a random text, until an operator puts the key. */
async function storedKey(secret: string) {
  const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId: secret }))
  const stored = v.safeParse(v.object({ api_key: v.string() }), jsonOf(SecretString ?? ''))
  return stored.success ? stored.output.api_key : undefined
}
