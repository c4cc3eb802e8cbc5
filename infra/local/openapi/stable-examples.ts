import { derivedUuid } from '../../../shared/ids.ts'
import { encodeCursor } from '../../../shared/page.ts'
import { timestampOf } from '../../../shared/time.ts'
import { qrisString } from '../provider-simulator/requests/qris-string.ts'
import { isJson, type Json } from './json-schema-of.ts'

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
const INBOX = /^http:\/\/127\.0\.0\.1:\d+\/hooks$/
const CHECKOUT = /^http:\/\/127\.0\.0\.1:\d+\/checkout/

/** When the examples begin: a Thursday, at the hour at which the recording does. */
const BEGIN_MS = Date.UTC(2026, 0, 15, 3)

/** A recording is over in less; what was recorded apart is further apart. */
const STEP_MS = 10 * 60_000
/** Between two times of one object, of which one was reckoned from the other. */
const FINE_STEP_MS = 5_000

const rounded = (ms: number, step: number) => Math.round(ms / step) * step

/**
 * Makes recorded bodies the same in every recording: ids are numbered as they appear, times are moved to a fixed day and
 * lose the moments that the recording took, and what the provider drew by lot is drawn anew. `beganMs`: when the
 * recording began.
 */
export const stableExamples = (beganMs: number): ((body: Json) => Json) => {
  const ids = new Map<string, string>()

  const stableId = (id: string): string => {
    const known = ids.get(id) ?? derivedUuid('example', String(ids.size + 1))
    ids.set(id, known)
    return known
  }

  const sinceBegin = (time: string, step: number) => rounded(Date.parse(time) - beganMs, step)

  const stableText = (text: string): string => {
    if (TIME.test(text)) return timestampOf(BEGIN_MS + sinceBegin(text, STEP_MS))
    return text
      .replace(INBOX, 'https://shop.example/hooks')
      .replace(CHECKOUT, 'https://checkout.example')
      .replaceAll(UUID, stableId)
  }

  const stable = (value: unknown): unknown => {
    if (typeof value === 'string') return stableText(value)
    if (Array.isArray(value)) return value.map(stable)
    return isJson(value) ? stableObject(value) : value
  }

  const stableObject = (value: Json): Json => {
    const made = Object.fromEntries(Object.entries(value).map(([name, content]) => [name, stable(content)]))
    return {
      ...made,
      ...expiryOf(value, String(made['created_at'])),
      ...qrOf(value),
      ...durationOf(value),
      ...nextOf(value),
    }
  }

  /** A cursor has ids and times in it. */
  const nextOf = ({ next }: Json): Json => {
    const position: unknown =
      typeof next === 'string' ? JSON.parse(Buffer.from(next, 'base64url').toString('utf8')) : undefined
    return isJson(position) ? { next: encodeCursor(stableObject(position)) } : {}
  }

  return stableObject
}

const expiryOf = ({ created_at: created, expires_at: expires }: Json, stableCreated: string): Json => {
  if (typeof created !== 'string' || typeof expires !== 'string') return {}
  const lifeMs = rounded(Date.parse(expires) - Date.parse(created), FINE_STEP_MS)
  return { expires_at: timestampOf(Date.parse(stableCreated) + lifeMs) }
}

const durationOf = ({ duration_ms: duration }: Json): Json => (duration === undefined ? {} : { duration_ms: 42 })

const qrOf = ({ method, notional_minor: amount }: Json): Json =>
  method === 'qris' ? { payment_destination: qrisString(Number(amount), 'EXAMPLE') } : {}
