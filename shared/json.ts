import { isLosslessNumber, type LosslessNumber, parse, splitNumber, stringify } from 'lossless-json'

/** Nesting beyond this is refused before the parser, which is recursive and takes some 5,000 levels, sees the text. */
const MAX_DEPTH = 2_000

export type JsonRead =
  | { readonly ok: true; readonly value: unknown; readonly text: string }
  | { readonly ok: false; readonly reason: string }

/** What the brackets and colons outside strings tell of a JSON text: its nesting, and how many members its objects have. */
const scan = (text: string): { readonly depth: number; readonly members: number } => {
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

const isContainer = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !isLosslessNumber(value)

/** An object of JSON: not null, no array, no number read by `readJson`. */
export const isJsonObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  isContainer(value) && !Array.isArray(value)

/** How many members the objects of a parsed value have, nested ones included. */
const membersOf = (value: unknown): number => {
  let members = 0
  const found = [value]
  // The list grows while it is walked, so that the depth of the value costs no stack.
  for (const inner of found) {
    if (!isContainer(inner)) continue
    const values: unknown[] = Object.values(inner)
    if (!Array.isArray(inner)) members += values.length
    for (const next of values) found.push(next)
  }
  return members
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

const decode = (bytes: Buffer): string | undefined => {
  try {
    return utf8.decode(bytes)
  } catch {
    return undefined
  }
}

/**
 * Reads JSON strictly: UTF-8, no duplicate keys, bounded nesting. Numbers keep their digits as `LosslessNumber`. The
 * reason of a refusal never quotes the text.
 */
export const readJson = (bytes: Buffer): JsonRead => {
  const text = decode(bytes)
  if (text === undefined) return { ok: false, reason: 'the body is not UTF-8' }
  if (text.trim() === '') return { ok: false, reason: 'the body is empty' }
  const { depth, members } = scan(text)
  if (depth > MAX_DEPTH) return { ok: false, reason: 'nested too deeply' }
  try {
    const value = parse(text, undefined, { onDuplicateKey: ({ oldValue }) => oldValue })
    // The parser passes over a key that comes twice with equal values: fewer members than colons tell of every kind.
    return membersOf(value) === members ? { ok: true, value, text } : { ok: false, reason: 'a key appears twice' }
  } catch {
    return { ok: false, reason: 'not well-formed JSON' }
  }
}

const TOKEN = /"[^"\\]*(?:\\.[^"\\]*)*"|[{}[\]:,]|[^\s"{}[\]:,]+/gs

/**
 * What stands behind a key in the text of a JSON object, as it was written but for white space between tokens: parsed,
 * keys that look like integers would come before all others. Takes well-formed text only.
 */
export const memberText = (text: string, name: string): string | undefined => {
  let depth = 0
  let before = ''
  let found: string | undefined
  for (const [token] of text.matchAll(TOKEN)) {
    if (token === '}' || token === ']') depth--
    if (found !== undefined) {
      if (depth === 0 || (depth === 1 && token === ',')) return found
      found += token
    } else if (depth === 1 && token === ':' && JSON.parse(before) === name) found = ''
    if (token === '{' || token === '[') depth++
    before = token
  }
  return undefined
}

/**
 * The whole number that the digits spell, in whatever notation (`1e3`, `1.0`). NaN when they spell a fraction, however
 * small, or more than a number can hold. Past 2^53 it is the nearest one: beyond every bound all the same.
 */
export const toInteger = (value: LosslessNumber): number => {
  const { digits, exponent } = splitNumber(value.value)
  const number = Number(value.value)
  return exponent >= digits.length - 1 && Number.isFinite(number) ? number : Number.NaN
}

export { isLosslessNumber, type LosslessNumber }

/** Writes a value read by `readJson`; a number appears with the digits it was read with. */
export const writeJson = (value: unknown): string => stringify(value) ?? 'null'

declare global {
  interface JSON {
    /** Text that JSON.stringify writes as it stands; in Node since version 22, in TypeScript's library not yet. */
    rawJSON(text: string): object
    isRawJSON(value: unknown): boolean
  }
}

const STRING_AND_COLON = /"([^"\\]*(?:\\.[^"\\]*)*)"(\s*:)?/gs

/** Puts a mark before each key: none looks like an integer then, so the parser keeps all in their order. */
const markKeys = (text: string): string =>
  text.replace(STRING_AND_COLON, (found, inner: string, colon: string | undefined) =>
    colon === undefined ? found : `"#${inner}"${colon}`,
  )

/** Takes the marks off. An object whose keys JavaScript would put in another order tells them in their own. */
const unmarkKeys = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(unmarkKeys)
  if (!isContainer(value) || JSON.isRawJSON(value)) return value
  const entries = Object.entries(value).map(([key, inner]) => [key.slice(1), unmarkKeys(inner)] as const)
  const keys = entries.map(([key]) => key)
  const object = Object.fromEntries(entries)
  const isInOrder = Object.keys(object).every((key, at) => key === keys[at])
  return isInOrder ? object : new Proxy(object, { ownKeys: () => keys })
}

/** A number that JavaScript would write with other digits keeps its own. */
const parseDigits = (digits: string): unknown =>
  String(Number(digits)) === digits ? Number(digits) : JSON.rawJSON(digits)

/**
 * Parses JSON text of our own making into a value that `JSON.stringify` writes again as it was: numbers digit for
 * digit, keys in their order.
 */
export const parseOwnJson = (text: string): unknown =>
  unmarkKeys(parse(markKeys(text), undefined, { parseNumber: parseDigits }))

/** True when no string in the value, keys included, has a lone surrogate: such text cannot be stored as UTF-8. */
export const isWellFormedDeep = (value: unknown): boolean => {
  if (typeof value === 'string') return value.isWellFormed()
  if (!isContainer(value)) return true
  return Object.entries(value).every(([key, inner]) => key.isWellFormed() && isWellFormedDeep(inner))
}

/** True when objects and arrays nest deeper than so many levels: a flat object has one. Looks no further than that. */
export const isDeeperThan = (value: unknown, levels: number): boolean =>
  isContainer(value) && (levels === 0 || Object.values(value).some((inner) => isDeeperThan(inner, levels - 1)))
