import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import * as v from 'valibot'
import type { Answer, Provider } from '../../../shared/provider/provider.ts'
import {
  isCallbackSecret,
  isProviderSecret,
  readCallbackTokens,
} from '../../../shared/provider/provider-secrets.ts'
import { callsPerMinute } from '../../../shared/provider/quota-store.ts'
import { chosenProvider } from '../../../shared/runtime/chosen-provider.ts'
import { callbackSecretName, providerSecretName } from '../../../shared/secrets.ts'
import { CALLBACK_PATHS } from '../../stack/edge/rate-rules.ts'
import { type Finding, ok, runCheck, unclear, unlessAbsent, wrong } from '../check/finding.ts'
import { type ApiAnswer, askApi } from './ask-api.ts'
import type { Examination } from './check-stack.ts'

const SECRET_HELP = 'docs/operations.md, "3. The provider"'

/**
 * Whether gateway and provider can call each other. Without a well-formed secret the doctor has no
 * key for its calls, and no token for the callback URL.
 */
export async function checkProvider(
  { stage: { settings }, aws: { secretsManager }, nowMs, providerUrl }: Examination,
  apiUrl: string | undefined,
): Promise<readonly Finding[]> {
  const [key, callback] = await Promise.all([
    checkSecret(secretsManager, {
      what: 'provider secret',
      name: providerSecretName(settings.name),
      isValid: (text) =>
        isProviderSecret(text) && !(settings.name === 'prod' && text.includes('"xnd_development_')),
      form:
        '{"secret_key": "..."}, 1 to 1,024 printable ASCII characters without spaces, in prod no ' +
        'development key',
      where: SECRET_HELP,
    }),
    checkSecret(secretsManager, {
      what: 'callback secret',
      name: callbackSecretName(settings.name),
      isValid: isCallbackSecret,
      form:
        '{"callback_tokens": ["..."]}, one or two texts of 16 to 1,024 printable ASCII ' +
        'characters without spaces',
      where: SECRET_HELP,
    }),
  ])
  const tokens = callback.text
    ? await readCallbackTokens({ get: async () => callback.text }, settings.name)
    : []
  const secrets = { get: async () => key.text }
  const provider = chosenProvider({ baseUrl: providerUrl, stage: settings.name, secrets, nowMs })
  const [callbackFindings, keyFindings] = await Promise.all([
    apiUrl === undefined
      ? [wrong('callback URL', 'the stack has no output ApiUrl', 'npm run deploy')]
      : runCheck('callback URL', () =>
          checkCallback({ url: `${apiUrl}${CALLBACK_PATHS.join('')}`, tokens }),
        ),
    key.text === undefined
      ? []
      : runCheck('provider key', () => checkProviderKey(provider, callsPerMinute(settings))),
  ])
  return [
    ...key.findings,
    ...callback.findings,
    ...callbackFindings,
    ok('callback fields', CALLBACK_FIELDS),
    ...keyFindings,
  ]
}

/** No call of the provider reads its dashboard, so a person compares the fields. */
const CALLBACK_FIELDS =
  'compare by hand: in the dashboard, under Webhooks, the callback URL is in "Payment requests ' +
  'v3" payment status and payment request status, "Unified refunds", and disputes'

type SecretCheck = {
  readonly what: string
  readonly name: string
  readonly isValid: (text: string) => boolean
  readonly form: string
  readonly where: string
}

/** The second error is that of a secret which is scheduled for deletion. */
const ABSENT_ERRORS = ['ResourceNotFoundException', 'InvalidRequestException']

/**
 * Whether a secret that a person fills in exists and has the form that functions read. The finding
 * names the form, never the value. `text`: the value of a well-formed secret, only for further
 * checks.
 */
export async function checkSecret(
  client: SecretsManagerClient,
  { what, name, isValid, form, where }: SecretCheck,
): Promise<{ readonly findings: readonly Finding[]; readonly text: string | undefined }> {
  let text: string | undefined
  const findings = await runCheck(what, async () => {
    const ask = client.send(new GetSecretValueCommand({ SecretId: name }))
    const stored = (await unlessAbsent(ABSENT_ERRORS, ask))?.SecretString
    const problem = stored === undefined ? 'is missing' : !isValid(stored) && `must be ${form}`
    if (problem) return wrong(what, `${name}: ${problem}`, `put ${form}, there: ${where}`)
    text = stored
    return ok(what, `${name} is well-formed`)
  })
  return { findings, text }
}

/** The gateway ignores a callback of an unknown kind before any call or write. */
const IGNORED_CALLBACK = JSON.stringify({ event: 'gateway.doctor', data: {} })

type CallbackTarget = {
  readonly url: string
  /** The valid tokens are never printed. */
  readonly tokens: readonly string[]
  readonly timeoutMs?: number
}

/** The gateway must accept each valid token, and refuse a wrong one. */
export async function checkCallback({
  url,
  tokens,
  timeoutMs,
}: CallbackTarget): Promise<readonly Finding[]> {
  const post = (token: string) => {
    const headers = { 'content-type': 'application/json', 'x-callback-token': token }
    return askApi(url, { method: 'POST', headers, body: IGNORED_CALLBACK }, timeoutMs)
  }
  const reply = await post('gateway-doctor-wrong-token')
  if ('lost' in reply) {
    const detail = `${url} cannot be reached: ${reply.lost}`
    return [wrong('callback URL', detail, 'check domain, front and API of the stage')]
  }
  const findings = [wrongTokenFinding(url, reply.status)]
  for (const [at, token] of tokens.entries()) {
    findings.push(
      tokenFinding(`callback with token ${at + 1} of ${tokens.length}`, await post(token)),
    )
  }
  return findings
}

function wrongTokenFinding(url: string, status: number) {
  const what = 'callback with a wrong token'
  if (status === 401) return ok(what, 'refused')
  const todo =
    status < 400
      ? 'take the API off the network: it accepts any token'
      : `check that ${url} is our API`
  return wrong(what, `answered ${status}, not 401`, todo)
}

const IgnoredReply = v.object({ outcome: v.literal('ignored') })

function tokenFinding(what: string, answer: ApiAnswer): Finding {
  if ('lost' in answer) return unclear(what, answer.lost, 'try again')
  if (answer.status === 200 && v.is(IgnoredReply, answer.body)) return ok(what, 'accepted')
  const todo =
    answer.status === 401
      ? 'a function reads a changed secret a minute later: wait and try again'
      : 'read the log of receive-provider-callback'
  return wrong(what, `answered ${answer.status}`, todo)
}

/** No payment has this id, so a query for it shows whether our key may read. */
const UNUSED_REQUEST_ID = 'pr-00000000-0000-4000-8000-000000000000'

/**
 * Asks permission by permission: reads one transaction, a request that does not exist, and the
 * balance.
 */
export async function checkProviderKey(
  provider: Pick<Provider, 'listTransactions' | 'getRequest' | 'getBalance' | 'callsOfMinute'>,
  perMinute: number,
) {
  const [transactions, request, balance] = await Promise.all([
    provider.listTransactions({ limit: 1 }),
    provider.getRequest(UNUSED_REQUEST_ID),
    provider.getBalance(),
  ])
  return [
    keyFinding('provider key for transactions (Transaction: Read)', transactions),
    keyFinding('provider key for payment requests (Money-in: Write)', request),
    keyFinding('provider key for the balance (Money-out: Read)', balance),
    ...limitFindings(provider.callsOfMinute('listTransactions'), perMinute),
  ]
}

/** The headers of the provider's answers name our limit. */
function limitFindings(limit: number | undefined, perMinute: number) {
  if (limit === undefined) return []
  const what = 'provider calls a minute'
  const detail = `the provider allows ${limit}, the stage uses ${perMinute}`
  if (limit === perMinute) return [ok(what, detail)]
  return [wrong(what, detail, `set providerCallsPerMinute of the stage to ${limit}`)]
}

function keyFinding(what: string, answer: Answer<unknown>) {
  if (answer.kind !== 'unanswered') return ok(what, 'accepted')
  return answer.reason === 'misconfigured'
    ? wrong(
        what,
        'refused',
        'give the key this permission in the dashboard, or put the right key into the secret',
      )
    : unclear(what, answer.reason, 'read the status page of the provider and try again')
}
