import * as v from 'valibot'
import { shellQuoted } from '../../../shared/text-field.ts'
import { PROVIDER_HEADERS } from '../provider-simulator/simulator-keys.ts'

const Port = v.picklist(['api', 'lambda', 'provider', 'inbox'])
const HeaderValue = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,255}$/))

/** The console has no access but calls of public interfaces, so a shell can do the same. */
export const ConsoleCallSchema = v.strictObject({
  port: Port,
  method: v.picklist(['GET', 'POST', 'DELETE']),
  path: v.pipe(v.string(), v.regex(/^\/(?!\/)[\x21-\x7e]*$/), v.maxLength(2_000)),
  body: v.optional(v.unknown()),
  /** By default the demo merchant's key. */
  apiKey: v.optional(HeaderValue),
  /** Makes a create safe to repeat. */
  idempotencyKey: v.optional(HeaderValue),
})
export type ConsoleCall = v.InferOutput<typeof ConsoleCallSchema>

/** What the page needs before it can show anything. */
export const AboutSchema = v.object({
  urls: v.object({ api: v.string(), lambda: v.string(), provider: v.string(), inbox: v.string() }),
  client: v.object({
    client_id: v.string(),
    api_key: v.string(),
    endpoint_id: v.string(),
    endpoint_url: v.string(),
  }),
})
export type About = v.InferOutput<typeof AboutSchema>

export function toWire({ urls, client }: About, call: ConsoleCall) {
  const { port, method, path, body, idempotencyKey, apiKey = client.api_key } = call
  const headers: Readonly<Record<string, string>> = {
    ...(port === 'api' && { authorization: `Bearer ${apiKey}` }),
    ...(port === 'provider' && path.startsWith('/v3/') && PROVIDER_HEADERS),
    ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
    ...(body !== undefined && { 'content-type': 'application/json' }),
  }
  return {
    method,
    url: urls[port] + path,
    headers,
    body: body === undefined ? undefined : JSON.stringify(body),
  }
}

/** A call as a curl command for a POSIX shell. */
export function asCurl(about: About, call: ConsoleCall) {
  const { method, url, headers, body } = toWire(about, call)
  return [
    `curl -s${method === 'GET' ? '' : ` -X ${method}`} ${shellQuoted(url)}`,
    ...Object.entries(headers).map(([name, value]) => `-H ${shellQuoted(`${name}: ${value}`)}`),
    ...(body === undefined ? [] : [`-d ${shellQuoted(body)}`]),
  ].join(' \\\n  ')
}
