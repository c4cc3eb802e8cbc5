import { isDeeperThan, isJsonObject, isWellFormedDeep, memberText } from '../../json.ts'

const MAX_BYTES = 16_384
const MAX_LEVELS = 32

export type MetadataRead =
  | { readonly ok: true; readonly text: string | undefined }
  | { readonly ok: false; readonly reason: string }

/**
 * Metadata as JSON text that comes back as it was sent: large integers and `1.0` digit for digit, keys in their order
 * (design section 5). An empty PHP array counts as an empty object. Takes the value as `readJson` reads it, and the
 * text of the body.
 */
export const readMetadata = (value: unknown, body: string): MetadataRead => {
  if (value === undefined) return { ok: true, text: undefined }
  if (Array.isArray(value) && value.length === 0) return { ok: true, text: '{}' }
  if (!isJsonObject(value)) return { ok: false, reason: 'must be an object' }
  if (isDeeperThan(value, MAX_LEVELS)) return { ok: false, reason: `nested deeper than ${MAX_LEVELS} levels` }
  if (!isWellFormedDeep(value)) return { ok: false, reason: 'a string has a lone surrogate' }
  const text = memberText(body, 'metadata') ?? ''
  if (Buffer.byteLength(text) > MAX_BYTES) return { ok: false, reason: 'larger than 16 KB' }
  return { ok: true, text }
}
