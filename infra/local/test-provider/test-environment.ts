import { randomUUID } from 'node:crypto'
import { callJson, type HttpCall } from '../../../shared/provider/call-json.ts'
import { providerHeaders } from '../provider-simulator/simulator-keys.ts'
import { UsageError } from '../terminal/command-line.ts'
import { CALLBACK_PATH } from '../triggers/start-http-gateway.ts'
import { API_URL } from './environment-help.ts'

/** No money moves in the test mode. */
const TEST_KEY = /^xnd_development_[\x21-\x7e]{1,500}$/

const TOKEN = /^[\x21-\x7e]{16,1024}$/

/** Published for the test mode, until an answer names another limit. */
const CALLS_PER_MINUTE = 60

/** As long as the gateway waits for a create. */
const ASK_TIMEOUT_MS = 12_000

/**
 * With the developer's own key. Throws `UsageError` for a key of another mode, and for incomplete
 * settings. No message names the key.
 */
export function testEnvironment(env: NodeJS.ProcessEnv) {
  const secretKey = env['XENDIT_SECRET_KEY'] ?? ''
  if (!TEST_KEY.test(secretKey)) {
    throw new UsageError(
      secretKey === ''
        ? 'set XENDIT_SECRET_KEY to your development key (xnd_development_…)'
        : 'XENDIT_SECRET_KEY is no development key (xnd_development_…): only test mode is allowed',
    )
  }
  const url = httpsUrl('XENDIT_API_URL', env['XENDIT_API_URL'] || API_URL)
  const publicUrl = env['XENDIT_CALLBACK_URL']
    ? httpsUrl('XENDIT_CALLBACK_URL', env['XENDIT_CALLBACK_URL'])
    : undefined
  const givenToken = env['XENDIT_CALLBACK_TOKEN'] ?? ''
  if (publicUrl && !TOKEN.test(givenToken)) {
    throw new UsageError(
      'XENDIT_CALLBACK_URL needs XENDIT_CALLBACK_TOKEN, of at least 16 characters without spaces',
    )
  }
  const budget = callBudgetFromHeaders()
  return {
    url: url.origin,
    secretKey,
    /** Without a public address no callback comes. */
    callbackToken: publicUrl ? givenToken : randomUUID(),
    publicUrl,
    callbackUrl: publicUrl && publicUrl.origin + CALLBACK_PATH,
    call: budget.call,
    callsPerMinute: budget.callsPerMinute,
  }
}

export type TestEnvironment = ReturnType<typeof testEnvironment>

export function askProvider(
  { url, secretKey, call }: Pick<TestEnvironment, 'url' | 'secretKey' | 'call'>,
  { method = 'GET', path, body, headers }: ProviderQuestion,
) {
  return call({
    method,
    url: new URL(path, url),
    headers: { ...providerHeaders(secretKey), ...headers },
    ...(body !== undefined && { body }),
    timeoutMs: ASK_TIMEOUT_MS,
  })
}

export type ProviderQuestion = Partial<Pick<HttpCall, 'method' | 'body' | 'headers'>> & {
  readonly path: string
}

function httpsUrl(name: string, text: string) {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'https:' || url.username !== '' || url.search !== '')
    throw new UsageError(`${name} must be an https address without user and query`)
  return url
}

/** Remembers the limit that each endpoint's last answer named. */
function callBudgetFromHeaders() {
  const limits = new Map<string, number>()
  return {
    call: async (call: HttpCall) => {
      const outcome = await callJson(call)
      const limit = outcome.kind === 'answered' ? outcome.rateLimit?.limit : undefined
      const [endpoint = ''] = /^(?:\/v\d+)?\/\w+/.exec(call.url.pathname) ?? []
      if (limit !== undefined && limit > 0) limits.set(endpoint, limit)
      return outcome
    },
    callsPerMinute: () => (limits.size === 0 ? CALLS_PER_MINUTE : Math.min(...limits.values())),
  }
}
