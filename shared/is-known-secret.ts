import { createHash, timingSafeEqual } from 'node:crypto'

const digest = (text: string) => createHash('sha256').update(text).digest()

const isAmong = (known: readonly string[], given: string): boolean => {
  const givenDigest = digest(given)
  return known.map((secret) => timingSafeEqual(givenDigest, digest(secret))).includes(true)
}

/**
 * Whether a value is one of the known secrets. Hashes are compared in constant time, so the time reveals neither a
 * partial match nor which secret matched. After a mismatch the secrets are read again, because they may have been
 * rotated.
 */
export const isKnownSecret = async (
  read: (fresh?: 'fresh') => Promise<readonly string[]>,
  given: string | undefined,
): Promise<boolean> => {
  const known = await read()
  return given !== undefined && (isAmong(known, given) || isAmong(await read('fresh'), given))
}
