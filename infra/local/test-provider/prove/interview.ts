import { randomUUID } from 'node:crypto'
import type { HttpOutcome } from '../../../../shared/provider/call-json.ts'
import { askProvider, type ProviderQuestion, type TestEnvironment } from '../test-environment.ts'
import { scrubber } from './scrubber.ts'

/** The provider does not answer, or our calls are used up. */
export class InterviewEnded extends Error {
  override readonly name = 'InterviewEnded'
}

/** An exchange as it is kept: scrubbed, and as the adapter's network gets it. */
type Exchange = {
  readonly name: string
  readonly method: 'GET' | 'POST'
  readonly path: string
  readonly body?: unknown
  readonly outcome: HttpOutcome
}

export type Json = Readonly<Record<string, unknown>>
export type Answered = { readonly status: number; readonly json: Json }

const MAX_CALLS = 400
const MAX_PAUSES = 3
const LONGEST_PAUSE_MS = 120_000

type Ways = {
  readonly environment: Pick<TestEnvironment, 'url' | 'secretKey' | 'call'>
  readonly wait: (ms: number) => Promise<void>
}

/**
 * Asks the provider one question after the other, waits while its limit is used up, and keeps each
 * exchange. An answer without JSON ends the interview, because a proxy may have given it.
 */
export function interview({ environment, wait }: Ways) {
  const exchanges: Exchange[] = []
  const { scrubJson, scrubPath } = scrubber()
  let calls = 0

  const keep = (
    name: string,
    { method = 'GET', path, body }: ProviderQuestion,
    outcome: HttpOutcome,
  ) => {
    exchanges.push({
      name,
      method,
      path: scrubPath(path),
      ...(body && { body: scrubJson(body) }),
      outcome:
        outcome.kind === 'answered' ? { ...outcome, json: scrubJson(outcome.json) } : outcome,
    })
  }

  const ask = async (name: string, question: ProviderQuestion): Promise<Answered> => {
    for (let pauses = 0; ; pauses++) {
      calls++
      if (calls > MAX_CALLS) throw new InterviewEnded(`${MAX_CALLS} calls were made`)
      const outcome = await askProvider(environment, question)
      if (outcome.kind !== 'answered')
        throw new InterviewEnded(`the provider did not answer ${name}: ${outcome.reason}`)
      const { status, json, rateLimit } = outcome
      if (status === 401) throw new InterviewEnded('the provider refuses XENDIT_SECRET_KEY')
      if (rateLimit && (rateLimit.remaining === 0 || status === 429))
        await wait(Math.min(rateLimit.resetMs, LONGEST_PAUSE_MS))
      if (status === 429 && pauses < MAX_PAUSES) continue
      if (typeof json !== 'object' || json === null)
        throw new InterviewEnded(`the answer to ${name} is no JSON (HTTP ${status})`)
      keep(name, question, outcome)
      return { status, json: { ...json } }
    }
  }

  return { ask, wait, exchanges, newReference: () => `prove-${randomUUID()}` }
}

export type Interview = ReturnType<typeof interview>
