import { useEffect, useState } from 'preact/hooks'
import * as v from 'valibot'
import type { ConsoleCall } from '../console-call.ts'
import { asCurl } from '../console-call.ts'
import { about, store } from './session.ts'

const Relayed = v.object({ status: v.number(), body: v.unknown() })
const Refusal = v.object({
  message: v.string(),
  action_hint: v.optional(v.string(), ''),
  field_errors: v.optional(v.record(v.string(), v.array(v.string())), {}),
})
/** The answer of an operator action, within the answer of Lambda. */
const Action = v.strictObject({ status: v.number(), body: v.unknown() })

const UNREACHABLE =
  'The gateway does not answer. Start it with npm start; this page then continues.'
const UNKNOWN_ANSWER = 'This page cannot show the answer. Reload the page.'

export type Answer = {
  readonly ok: boolean
  readonly status: number
  readonly body: unknown
  readonly message: string
}

/**
 * Counts changes of the gateway. Each part of the page reads its data again when the count changes.
 */
const changes = store(0)

export function readAllAgain() {
  return changes.set(changes.get() + 1)
}

export function curlOf(call: ConsoleCall): string {
  return asCurl(about(), call)
}

/** Makes a call that changes data. All parts of the page then read again. */
export async function doCall(call: ConsoleCall): Promise<Answer> {
  const answer = await makeCall(call)
  readAllAgain()
  return answer
}

/**
 * Makes a call through the console's server. Returns the answer, and for a refusal the text to
 * show.
 */
async function makeCall(call: ConsoleCall): Promise<Answer> {
  const headers = { 'content-type': 'application/json' }
  const relayed = await fetch('/console/call', {
    method: 'POST',
    headers,
    body: JSON.stringify(call),
  })
    .then(async (answer) => v.parse(Relayed, await answer.json()))
    .catch(() => ({ status: 0, body: { message: UNREACHABLE } }))
  const action = v.safeParse(Action, relayed.body)
  const { status, body } = action.success ? action.output : relayed
  return { ok: status >= 200 && status < 300, status, body, message: reasonIn(body) }
}

function reasonIn(body: unknown): string {
  const refusal = v.safeParse(Refusal, body)
  if (!refusal.success) return ''
  const { message, action_hint: hint, field_errors: errors } = refusal.output
  const fields = Object.entries(errors).map(([field, reasons]) => `${field}: ${reasons.join(', ')}`)
  return [message, ...fields, hint].filter((text) => text !== '').join(' · ')
}

/** The last answer, and the error of a newer read. Both are missing until the first answer. */
export type Read<T> = { readonly value?: T; readonly error?: string }

/**
 * The answer of a call, read again after each change. At most one read is in progress, and one read
 * is queued. So each answer is shown, even if data changes all the time.
 */
export function useRead<const Schema extends v.GenericSchema>(
  schema: Schema,
  call: ConsoleCall | undefined,
): Read<v.InferOutput<Schema>> {
  const [read, setRead] = useState<
    Read<v.InferOutput<Schema>> & { readonly key?: string | undefined }
  >({})
  const key = JSON.stringify(call)
  useEffect(() => {
    if (!call) return undefined
    const state = { isReading: false, isQueued: false, hasEnded: false }
    let lastRead: Read<v.InferOutput<Schema>> = {}
    const show = (answer: Answer) => {
      const error = answer.message || `The answer has the HTTP status ${answer.status}.`
      const parsed = v.safeParse(schema, answer.body)
      if (answer.ok)
        lastRead = parsed.success ? { value: parsed.output } : { error: UNKNOWN_ANSWER }
      else lastRead = isTemporary(answer.status) ? { ...lastRead, error } : { error }
      setRead({ ...lastRead, key })
    }
    const readAgain = async () => {
      state.isQueued = true
      if (state.isReading) return
      state.isReading = true
      while (state.isQueued && !state.hasEnded) {
        state.isQueued = false
        const answer = await makeCall(call)
        if (!state.hasEnded) show(answer)
      }
      state.isReading = false
    }
    void readAgain()
    const unfollow = changes.follow(() => void readAgain())
    return () => {
      unfollow()
      state.hasEnded = true
    }
  }, [key])
  return read.key === key ? read : {}
}

/** After a temporary error, the page still shows the previous answer. */
function isTemporary(status: number) {
  return status === 0 || status === 429 || status >= 500
}
