import { derivedUuid } from '../../../shared/ids.ts'
import { encodeCursor } from '../../../shared/page.ts'
import { timestampOf } from '../../../shared/time.ts'
import { qrisString } from '../provider-simulator/requests/qris-string.ts'
import { isJson, type Json } from './json-schema-of.ts'

const UUID = /[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/g
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/
const INBOX = /^http:\/\/127\.0\.0\.1:\d+\/hooks$/
const CHECKOUT = /^http:\/\/127\.0\.0\.1:\d+\/checkout/

/** The start time of the examples: a Thursday, at the same hour as the recording. */
const BEGIN_MS = Date.UTC(2026, 0, 15, 3)

/** Longer than a recording takes, and shorter than the clock jumps within it. */
const STEP_MS = 10 * 60_000
/** The step for two times of one object, if one was computed from the other. */
const FINE_STEP_MS = 5_000

const rounded = (ms: number, step: number) => Math.round(ms / step) * step

/**
 * Makes recorded bodies the same in every recording. It numbers ids in order of appearance, moves times to a fixed day
 * without the duration of the recording, and replaces the provider's random values. `beganMs`: the start of the
 * recording.
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

  /** A cursor contains ids and times. */
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
