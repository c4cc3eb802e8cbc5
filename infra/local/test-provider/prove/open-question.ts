import type { Answered, Interview } from './interview.ts'
import type { ChannelWalk } from './walk-channel.ts'

export type Study = {
  readonly interview: Interview
  readonly walks: ReadonlyMap<string, ChannelWalk>
  /** Undefined without a public address. */
  readonly callbacks: readonly ReceivedCallback[] | undefined
  readonly nowMs: () => number
}

export type ReceivedCallback = { readonly event: string; readonly hasWebhookId: boolean }

/** `not asked`: this account, or this run, cannot show it. */
export type Verdict = { readonly answer: 'yes' | 'no' | 'not asked'; readonly because: string }

export type OpenQuestion = {
  readonly id: string
  readonly question: string
  readonly ask: (study: Study) => Promise<Verdict> | Verdict
}

export function verdict(isYes: boolean, because: string): Verdict {
  return { answer: isYes ? 'yes' : 'no', because }
}

export function notAsked(because: string): Verdict {
  return { answer: 'not asked', because }
}

export function isSuccess({ status }: Answered) {
  return status < 300
}

/** The status, with the provider's code of a refusal. */
export function shown({ status, json }: Answered) {
  const code = json['error_code']
  return `HTTP ${status}${typeof code === 'string' ? ` ${code}` : ''}`
}
