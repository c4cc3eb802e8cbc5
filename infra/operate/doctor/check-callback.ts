import * as v from 'valibot'
import { type Finding, ok, unclear, wrong } from '../check/finding.ts'
import { errorName } from '../check/run-check.ts'

/** Of no kind the gateway knows: it is read, and ignored before anything is asked or written. */
const HARMLESS = JSON.stringify({ event: 'gateway.doctor', data: {} })

/** API Gateway itself would wait thirty; ours answers within one. */
const TIMEOUT_MS = 10_000

/** Longer and the times in logs and signatures mislead; AWS refuses requests that are off by five minutes. */
const CLOCK_TOLERANCE_MS = 30_000

const Ignored = v.object({ outcome: v.literal('ignored') })

export type CallbackTarget = {
  readonly url: string
  /** Those of the secret: the right ones. Never printed. */
  readonly tokens: readonly string[]
  readonly nowMs: () => number
  readonly timeoutMs?: number
}

/** Whether the provider's callbacks arrive, and only the provider's: with each right token, and with a wrong one. */
export const checkCallback = async (target: CallbackTarget): Promise<readonly Finding[]> => {
  const { url, tokens, nowMs } = target
  const refused = await postCallback(target, 'gateway-doctor-wrong-token')
  if ('lost' in refused) {
    return [
      wrong('callback URL', `${url} cannot be reached: ${refused.lost}`, 'check domain, front and API of the stage'),
    ]
  }
  const findings = [strangerFinding(url, refused.status)]
  for (const [at, token] of tokens.entries()) {
    findings.push(tokenFinding(`callback with token ${at + 1} of ${tokens.length}`, await postCallback(target, token)))
  }
  return [...findings, clockFinding(Date.parse(refused.date ?? ''), nowMs())]
}

type Answer =
  | { readonly status: number; readonly body: unknown; readonly date: string | null }
  | { readonly lost: string }

const postCallback = async ({ url, timeoutMs = TIMEOUT_MS }: CallbackTarget, token: string): Promise<Answer> => {
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-callback-token': token },
      body: HARMLESS,
      redirect: 'manual',
      signal: AbortSignal.timeout(timeoutMs),
    })
    const body: unknown = await response.json().catch(() => undefined)
    return { status: response.status, body, date: response.headers.get('date') }
  } catch (error) {
    return { lost: errorName((error instanceof Error && error.cause) || error) }
  }
}

const strangerFinding = (url: string, status: number): Finding => {
  const what = 'callback with a wrong token'
  if (status === 401) return ok(what, 'refused')
  const todo = status < 400 ? 'take the API off the network: it believes anyone' : `look whether ${url} is our API`
  return wrong(what, `answered ${status}, not 401`, todo)
}

const tokenFinding = (what: string, answer: Answer): Finding => {
  if ('lost' in answer) return unclear(what, answer.lost, 'try again')
  if (answer.status === 200 && v.is(Ignored, answer.body)) return ok(what, 'accepted')
  const todo =
    answer.status === 401
      ? 'a function reads a changed secret a minute later: wait and try again'
      : 'look into the log of receive-provider-callback'
  return wrong(what, `answered ${answer.status}`, todo)
}

const clockFinding = (theirsMs: number, nowMs: number): Finding => {
  if (Number.isNaN(theirsMs)) return unclear('clock', 'the API told no time', 'try again')
  const offMs = nowMs - theirsMs
  const detail = `${Math.abs(offMs / 1_000).toFixed(0)} s ${offMs < 0 ? 'behind' : 'ahead of'} the API`
  if (Math.abs(offMs) <= CLOCK_TOLERANCE_MS) return ok('clock', detail)
  return wrong(
    'clock',
    detail,
    'set the clock of this machine (NTP): AWS refuses requests that are off by five minutes',
  )
}
