import { isUtf8 } from 'node:buffer'
import { isLosslessNumber, type LosslessNumber, parse, splitNumber } from 'lossless-json'

type JsonRead<Value = unknown> =
  | { readonly ok: true; readonly value: Value; readonly text: string }
  | { readonly ok: false; readonly reason: string }

const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/.source
const TOKEN = new RegExp(`${STRING}|[{}[\\]:,]|[^\\s"{}[\\]:,]+`, 'gs')

export { isLosslessNumber, type LosslessNumber }

declare global {
  interface JSON {
    /**
     * Text that JSON.stringify writes unchanged. Node has this function from version 22;
     * TypeScript's library lacks it.
     */
    rawJSON(text: string): object
    isRawJSON(value: unknown): boolean
  }
}

const TEXT = Symbol('JSON text')

/** Writes JSON as `JSON.stringify` does, and each `jsonText` unchanged. */
export function toJson(value: unknown): string {
  if (!isContainer(value)) return JSON.stringify(value) ?? 'null'
  if (TEXT in value) return String(value[TEXT])
  if (Array.isArray(value)) return `[${value.map(toJson).join(',')}]`
  const members = Object.entries(value).filter(([, inner]) => inner !== undefined)
  return `{${members.map(([key, inner]) => `${JSON.stringify(key)}:${toJson(inner)}`).join(',')}}`
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !isLosslessNumber(value)
}

/**
 * Counts the nesting of a JSON text and the members of its objects, by brackets and colons outside
 * strings.
 */
export function scanJson(text: string): { readonly depth: number; readonly members: number } {
  let depth = 0
  let deepest = 0
  let members = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (inString) {
      if (char === '\\') at++
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === '{' || char === '[') deepest = Math.max(deepest, ++depth)
    else if (char === '}' || char === ']') depth--
    else if (char === ':') members++
  }
  return { depth: deepest, members }
}

/** A JSON object: not null, no array, no number of `readJson`. */
export function isJsonObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return isContainer(value) && !Array.isArray(value)
}

/**
 * Reads strict JSON. Numbers keep their digits as `LosslessNumber`. A refusal never quotes the
 * text.
 */
export function readJson(bytes: Buffer): JsonRead {
  if (!isUtf8(bytes)) return { ok: false, reason: 'the body is not UTF-8' }
  const text = bytes.toString('utf8')
  if (text.trim() === '') return { ok: false, reason: 'the body is empty' }
  const { depth, members } = scanJson(text)
  // The recursive parser fails at about 5,000 levels.
  if (depth > 2_000) return { ok: false, reason: 'nested too deeply' }
  try {
    const value = parse(text, undefined, { onDuplicateKey: ({ oldValue }) => oldValue })
    // The parser accepts a duplicate key with equal values. Fewer members than colons reveal every
    // duplicate.
    return membersOf(value) === members
      ? { ok: true, value, text }
      : { ok: false, reason: 'a key appears twice' }
  } catch {
    return { ok: false, reason: 'not well-formed JSON' }
  }
}

function membersOf(value: unknown) {
  let members = 0
  const pending = [value]
  // The list grows during the loop, so that nesting needs no stack.
  for (const inner of pending) {
    if (!isContainer(inner)) continue
    const values: unknown[] = Object.values(inner)
    if (!Array.isArray(inner)) members += values.length
    for (const next of values) pending.push(next)
  }
  return members
}

/** A larger body of a request is refused unread (design section 5). */
export const MAX_BODY_BYTES = 65_536

/** Reads the body of a request: a JSON object. */
export function readBody(rawBody: Buffer): JsonRead<Readonly<Record<string, unknown>>> {
  if (rawBody.length > MAX_BODY_BYTES) return { ok: false, reason: 'the body is larger than 64 KB' }
  const json = readJson(rawBody)
  if (!json.ok) return json
  return isJsonObject(json.value)
    ? { ...json, value: json.value }
    : { ok: false, reason: 'expected an object' }
}

/** Members of an object or elements of an array. Parsing would reorder integer-like keys. */
export function partTexts(text: string): readonly string[] {
  const parts: string[] = []
  let depth = 0
  let part = ''
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '}' || token === ']') depth--
    const isBetween = depth === 0 || (depth === 1 && token === ',')
    if (isBetween && part !== '') parts.push(part)
    part = isBetween ? '' : part + token
    if (token === '{' || token === '[') depth++
  }
  return parts
}

export function memberText(text: string, name: string): string | undefined {
  return partTexts(text).flatMap((part) => {
    const [key = '""'] = part.match(`^${STRING}`) ?? []
    return JSON.parse(key) === name ? [part.slice(key.length + 1)] : []
  })[0]
}

/**
 * The integer value of a number in any notation (`1e3`, `1.0`). NaN for a fraction or a number out
 * of range.
 */
export function toInteger(value: LosslessNumber): number {
  const { digits, exponent } = splitNumber(value.value)
  const number = Number(value.value)
  return exponent >= digits.length - 1 && Number.isFinite(number) ? number : Number.NaN
}

/** For text that the gateway has written: its numbers keep their digits. */
export function parseOwnJson(text: string): unknown {
  return parse(text, undefined, {
    // JavaScript would write a number with other digits differently.
    parseNumber: (digits) =>
      String(Number(digits)) === digits ? Number(digits) : JSON.rawJSON(digits),
  })
}

/**
 * A value that is known by its text. `toJson` writes that text; `JSON.stringify` moves integer-like
 * keys to the front.
 */
export function jsonText(text: string) {
  return { [TEXT]: text, toJSON: () => parseOwnJson(text) }
}

/** A lone surrogate cannot be stored as UTF-8. */
export function isWellFormedDeep(value: unknown): boolean {
  if (typeof value === 'string') return value.isWellFormed()
  if (!isContainer(value)) return true
  return Object.entries(value).every(
    ([key, inner]) => key.isWellFormed() && isWellFormedDeep(inner),
  )
}
