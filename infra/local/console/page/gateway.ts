import { useEffect, useState } from 'preact/hooks'
import * as v from 'valibot'
import type { ConsoleCall } from '../console-call.ts'
import { asCurl } from '../console-call.ts'
import { oneAtATime } from './one-at-a-time.ts'
import { about } from './session.ts'
import { store } from './store.ts'

const Relayed = v.object({ status: v.number(), body: v.unknown() })
const Refusal = v.object({
  message: v.string(),
  action_hint: v.optional(v.string(), ''),
  field_errors: v.optional(v.record(v.string(), v.array(v.string())), {}),
})
/** What an operator action answers inside a Lambda's answer. */
const Action = v.strictObject({ status: v.number(), body: v.unknown() })

export type Answer = { readonly ok: boolean; readonly status: number; readonly body: unknown; readonly message: string }

/** Counts what has happened: whoever shows something reads it again when this moves. */
const changes = store(0)
export const somethingChanged = () => changes.set(changes.get() + 1)

export type Notice = { readonly text: string; readonly ok: boolean }
/** What the last action brought, read out to whoever does not see it. */
export const notice = store<Notice | undefined>(undefined)

export const curlOf = (call: ConsoleCall): string => asCurl(about(), call)

/** Makes a call through the console's own server. Answers what was said, and what to show where it was a no. */
const makeCall = async (call: ConsoleCall): Promise<Answer> => {
  const headers = { 'content-type': 'application/json' }
  const relayed = await fetch('/console/call', { method: 'POST', headers, body: JSON.stringify(call) })
    .then(async (answer) => v.parse(Relayed, await answer.json()))
    .catch(() => ({ status: 0, body: { message: 'the gateway does not answer' } }))
  const action = v.safeParse(Action, relayed.body)
  const { status, body } = action.success ? action.output : relayed
  return { ok: status >= 200 && status < 300, status, body, message: reasonIn(body) }
}

const reasonIn = (body: unknown): string => {
  const refusal = v.safeParse(Refusal, body)
  if (!refusal.success) return ''
  const { message, action_hint: hint, field_errors: errors } = refusal.output
  const fields = Object.entries(errors).map(([field, reasons]) => `${field}: ${reasons.join(', ')}`)
  return [message, ...fields, hint].filter((text) => text !== '').join(' · ')
}

/** Does something and says how it went. */
export const doCall = async (label: string, call: ConsoleCall): Promise<Answer> => {
  const answer = await makeCall(call)
  const text = answer.ok ? `${label}: done` : `${label}: ${answer.message || `answered ${answer.status}`}`
  notice.set({ text, ok: answer.ok })
  somethingChanged()
  return answer
}

/** What a call answers, read again after each change; undefined before the first answer, or after a refusal. */
export const useRead = <const Schema extends v.GenericSchema>(
  schema: Schema,
  call: ConsoleCall | undefined,
): v.InferOutput<Schema> | undefined => {
  const [read, setRead] = useState<{ readonly key: string; readonly value: v.InferOutput<Schema> }>()
  const key = JSON.stringify(call)
  useEffect(() => {
    if (!call) return undefined
    const reader = oneAtATime(
      () => makeCall(call),
      ({ ok, body }) => {
        const parsed = v.safeParse(schema, body)
        if (ok && parsed.success) setRead({ key, value: parsed.output })
      },
    )
    reader.again()
    const unfollow = changes.follow(reader.again)
    return () => {
      unfollow()
      reader.end()
    }
  }, [key])
  return read?.key === key ? read.value : undefined
}
