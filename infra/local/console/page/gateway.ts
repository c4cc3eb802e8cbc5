import { useEffect, useState } from 'preact/hooks'
import * as v from 'valibot'
import { asCurl, type ConsoleCall } from '../console-call.ts'
import { rememberRefusal } from './approvals.ts'
import { withJakartaTimes } from './jakarta.ts'
import { about, merchant, store } from './session.ts'
import { type Answer, ClockSchema } from './shapes.ts'

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

/** Each part of the page reads its data again when this count of changes grows. */
const changes = store(0)

export function readAllAgain() {
  return changes.set(changes.get() + 1)
}

export function curlOf(call: ConsoleCall) {
  return asCurl(about(), call)
}

/**
 * Makes a call that changes data. All parts of the page then read again. What a refused action
 * needs an approval for is remembered.
 */
export async function doCall(call: ConsoleCall): Promise<Answer> {
  const answer = await ask(call)
  if (!answer.ok) rememberRefusal(answer.body)
  readAllAgain()
  return answer
}

/** Makes a call that changes nothing. Returns the answer, and for a refusal the text to show. */
export async function ask(call: ConsoleCall): Promise<Answer> {
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

function reasonIn(body: unknown) {
  const refusal = v.safeParse(Refusal, body)
  if (!refusal.success) return ''
  const { message, action_hint: hint, field_errors: errors } = refusal.output
  const fields = Object.entries(errors).map(([field, reasons]) => `${field}: ${reasons.join(', ')}`)
  return withJakartaTimes([message, ...fields, hint].filter((text) => text !== '').join(' · '))
}

/** The last answer, and the error of a newer read. Both are missing until the first answer. */
export type Read<T> = { readonly value?: T; readonly error?: string }

/** An answer as the page shows it. After a temporary error, the page keeps the answer before. */
export type Loaded<T> =
  | { readonly value: T }
  | { readonly error: string; readonly isTemporary: boolean }

export function useRead<const Schema extends v.GenericSchema>(
  schema: Schema,
  call: ConsoleCall | undefined,
): Read<v.InferOutput<Schema>> {
  return useLoad(call && JSON.stringify(call), async () =>
    call ? load(schema, call) : { error: UNKNOWN_ANSWER, isTemporary: false },
  )
}

export async function load<const Schema extends v.GenericSchema>(
  schema: Schema,
  call: ConsoleCall,
): Promise<Loaded<v.InferOutput<Schema>>> {
  const { ok, status, body, message } = await ask(call)
  if (!ok) {
    const error = message || `The answer has the HTTP status ${status}.`
    return { error, isTemporary: status === 0 || status === 429 || status >= 500 }
  }
  const parsed = v.safeParse(schema, body)
  return parsed.success ? { value: parsed.output } : { error: UNKNOWN_ANSWER, isTemporary: false }
}

/**
 * What `loadNow` answers, read again after each change and for each new key. At most one read is in
 * progress and one is queued, so each answer is shown even if data changes all the time.
 */
export function useLoad<T>(key: string | undefined, loadNow: () => Promise<Loaded<T>>): Read<T> {
  const [read, setRead] = useState<Read<T> & { readonly key?: string | undefined }>({})
  useEffect(() => {
    if (key === undefined) return undefined
    const state = { isReading: false, isQueued: false, hasEnded: false }
    let lastRead: Read<T> = {}
    const show = (loaded: Loaded<T>) => {
      if ('value' in loaded) lastRead = { value: loaded.value }
      else if (loaded.isTemporary) lastRead = { ...lastRead, error: loaded.error }
      else lastRead = { error: loaded.error }
      setRead({ ...lastRead, key })
    }
    const readAgain = async () => {
      state.isQueued = true
      if (state.isReading) return
      state.isReading = true
      while (state.isQueued && !state.hasEnded) {
        state.isQueued = false
        const loaded = await loadNow()
        if (!state.hasEnded) show(loaded)
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

const OPERATOR = 'console'

export function api(path: string): ConsoleCall {
  return { ...merchantAccess(), method: 'GET', path: `/v1/${path}` }
}

function merchantAccess() {
  return { port: 'api', apiKey: merchant().api_key } as const
}

export function apiPost(path: string, body: object, idempotencyKey?: string): ConsoleCall {
  return {
    ...merchantAccess(),
    method: 'POST',
    path: `/v1/${path}`,
    body,
    ...(idempotencyKey !== undefined && { idempotencyKey }),
  }
}

/** Invokes any function, as the AWS CLI does. */
export function invoke(name: string, payload: object = {}): ConsoleCall {
  return {
    port: 'lambda',
    method: 'POST',
    path: `/2015-03-31/functions/gateway-local-${name}/invocations`,
    body: payload,
  }
}

export function operate(action: string, payload: object): ConsoleCall {
  return invoke(action, { operator: OPERATOR, ...payload })
}

/** On AWS the approver is another person, with the duty `approve`. */
const APPROVER = 'console, second person'

export function approveCall(approvable: { readonly action: string; readonly payload: object }) {
  return operate('approve', { ...approvable, operator: APPROVER })
}

export function withClientId(payload: object = {}): object {
  return { client_id: merchant().client_id, ...payload }
}

export function jumpBy(seconds: number): ConsoleCall {
  return {
    port: 'lambda',
    method: 'POST',
    path: '/_local/clock',
    body: { advance_seconds: seconds },
  }
}

export function simulator(
  path: string,
  body?: object,
  method: ConsoleCall['method'] = 'POST',
): ConsoleCall {
  return {
    port: 'provider',
    method,
    path: `/_simulator${path}`,
    ...(body !== undefined && { body }),
  }
}

/** The gateway judges other text. */
export function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

export function providerAction(requestId: string, action: string, body: object = {}): ConsoleCall {
  return action === 'simulate'
    ? { port: 'provider', method: 'POST', path: `/v3/payment_requests/${requestId}/simulate`, body }
    : simulator(`/payment_requests/${requestId}/${action}`, body)
}

const CLOCK_CALL: ConsoleCall = { port: 'lambda', method: 'GET', path: '/_local/clock' }

export function useClock() {
  return useRead(ClockSchema, CLOCK_CALL).value
}

export function loadClock() {
  return load(ClockSchema, CLOCK_CALL)
}
