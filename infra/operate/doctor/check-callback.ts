import * as v from 'valibot'
import { type Finding, ok, unclear, wrong } from '../check/finding.ts'
import { errorName } from '../check/look.ts'

/** Of no kind the gateway knows: it is read, and ignored before anything is asked or written. */
const HARMLESS = JSON.stringify({ event: 'gateway.doctor', data: {} })

const TIMEOUT_MS = 10_000

/** Longer and the times in logs and signatures mislead; AWS refuses requests that are off by five minutes. */
const CLOCK_TOLERANCE_MS = 30_000

const Ignored = v.object({ outcome: v.literal('ignored') })

export type CallbackTarget = {
  readonly url: string
  /** Those of the secret: the right ones. Never printed. */
  readonly tokens: readonly string[]
  readonly nowMs: () => number
  /** Ten seconds when not given: API Gateway itself would wait thirty, ours answers within one. */
  readonly timeoutMs?: number
}

/** Whether the provider's callbacks arrive, and only the provider's: with each right token, and with a wrong one. */
export const checkCallback = async ({
  url,
  tokens,
  nowMs,
  timeoutMs = TIMEOUT_MS,
}: CallbackTarget): Promise<readonly Finding[]> => {
  const knockWith = (token: string) => knock(url, token, timeoutMs)
  const refused = await knockWith('gateway-doctor-wrong-token')
  if (refused.kind === 'lost') {
    const what = 'callback URL'
    return [wrong(what, `${url} cannot be reached: ${refused.reason}`, 'check domain, front and API of the stage')]
  }
  const findings: Finding[] = [
    refused.status === 401
      ? ok('callback with a wrong token', 'refused')
      : wrong(
          'callback with a wrong token',
          `answered ${refused.status}, not 401`,
          refused.status < 400 ? 'take the API off the network: it believes anyone' : `look whether ${url} is our API`,
        ),
  ]
  for (const [at, token] of tokens.entries()) {
    findings.push(tokenFinding(`callback with token ${at + 1} of ${tokens.length}`, await knockWith(token)))
  }
  return [...findings, clockFinding(refused.date, nowMs())]
}

type Answer =
  | { readonly kind: 'answered'; readonly status: number; readonly json: unknown; readonly date: string | undefined }
  | { readonly kind: 'lost'; readonly reason: string }

const knock = async (url: string, token: string, timeoutMs: number): Promise<Answer> => {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-callback-token': token },
      body: HARMLESS,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const text = await response.text()
    return {
      kind: 'answered',
      status: response.status,
      json: parsed(text),
      date: response.headers.get('date') ?? undefined,
    }
  } catch (error) {
    const cause = error instanceof Error ? error.cause : undefined
    return { kind: 'lost', reason: errorName(cause ?? error) }
  }
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const tokenFinding = (what: string, answer: Answer): Finding => {
  if (answer.kind === 'lost') return unclear(what, answer.reason, 'try again')
  if (answer.status === 200 && v.is(Ignored, answer.json)) return ok(what, 'accepted')
  const todo =
    answer.status === 401
      ? 'a function keeps the secret for a minute after a change: wait and try again'
      : 'look into the log of receive-provider-callback'
  return wrong(what, `answered ${answer.status}`, todo)
}

const clockFinding = (date: string | undefined, nowMs: number): Finding => {
  const theirsMs = Date.parse(date ?? '')
  if (Number.isNaN(theirsMs)) return unclear('clock', 'the API told no time', 'try again')
  const offMs = nowMs - theirsMs
  const detail = `${Math.abs(offMs / 1_000).toFixed(0)} s ${offMs < 0 ? 'behind' : 'ahead of'} the API`
  return Math.abs(offMs) <= CLOCK_TOLERANCE_MS
    ? ok('clock', detail)
    : wrong('clock', detail, 'set the clock of this machine (NTP): AWS refuses requests that are off by five minutes')
}
