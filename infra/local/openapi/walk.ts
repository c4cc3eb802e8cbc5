import type { Answer, CallInput, LocalCaller, ReceivedWebhook } from '../local-caller.ts'
import type { Json } from './json-schema-of.ts'

/** The name is unique within its operation and status. */
export type RecordedAnswer = Answer & { readonly name: string; readonly summary: string }

export type WalkResult = {
  readonly answers: readonly RecordedAnswer[]
  readonly webhooks: readonly ReceivedWebhook[]
}

export type Walk = {
  readonly caller: LocalCaller
  readonly clientId: string
  readonly key: string
  /**
   * Calls with the merchant's key, unless `input` has another key. Records the answer with this
   * name.
   */
  readonly record: (
    operation: string,
    name: string,
    summary: string,
    input?: CallInput,
  ) => Promise<Json>
  readonly addAnswer: (answer: Answer, name: string, summary: string) => void
}
