import { isLosslessNumber, type LosslessNumber, parse, stringify } from 'lossless-json'

/** Nesting beyond this is refused before anything recursive touches the text. */
const MAX_DEPTH = 200

export type JsonRead = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly reason: string }

/** How deep the brackets of a JSON text nest. Counts only what stands outside strings. */
const depthOf = (text: string): number => {
  let depth = 0
  let deepest = 0
  let inString = false
  for (let at = 0; at < text.length; at++) {
    const char = text[at]
    if (inString) {
      if (char === '\\') at++
      else if (char === '"') inString = false
    } else if (char === '"') inString = true
    else if (char === '{' || char === '[') deepest = Math.max(deepest, ++depth)
    else if (char === '}' || char === ']') depth--
  }
  return deepest
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
  if (depthOf(text) > MAX_DEPTH) return { ok: false, reason: 'nested too deeply' }
  let duplicate = false
  try {
    const value = parse(text, undefined, {
      onDuplicateKey: ({ oldValue }) => {
        duplicate = true
        return oldValue
      },
    })
    return duplicate ? { ok: false, reason: 'a key appears twice' } : { ok: true, value }
  } catch {
    return { ok: false, reason: 'not well-formed JSON' }
  }
}

/** A number as code works with it. Not a number (NaN) when its digits do not survive the conversion to an integer. */
export const toNumber = (value: LosslessNumber): number => {
  const number = Number(value.value)
  return Number.isFinite(number) ? number : Number.NaN
}

export { isLosslessNumber, type LosslessNumber }

/** Writes a value read by `readJson`; a number appears with the digits it was read with. */
export const writeJson = (value: unknown): string => stringify(value) ?? 'null'

declare global {
  interface JSON {
    /** Text that JSON.stringify writes as it stands; in Node since version 22, in TypeScript's library not yet. */
    rawJSON(text: string): object
  }
}

/** Parses JSON text of our own making into a value that `JSON.stringify` writes again digit for digit. */
export const parseOwnJson = (text: string): unknown =>
  parse(text, undefined, { parseNumber: (digits) => JSON.rawJSON(digits) })

/** True when no string in the value, keys included, has a lone surrogate: such text cannot be stored as UTF-8. */
export const isWellFormedDeep = (value: unknown): boolean => {
  if (typeof value === 'string') return value.isWellFormed()
  if (Array.isArray(value)) return value.every(isWellFormedDeep)
  if (isLosslessNumber(value) || typeof value !== 'object' || value === null) return true
  return Object.entries(value).every(([key, inner]) => key.isWellFormed() && isWellFormedDeep(inner))
}

/** Levels of nesting of a parsed value: 0 for a plain value, 1 for a flat object. */
export const levelsOf = (value: unknown): number => {
  if (isLosslessNumber(value) || typeof value !== 'object' || value === null) return 0
  return 1 + Math.max(0, ...Object.values(value).map(levelsOf))
}
