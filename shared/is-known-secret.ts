import { createHash, timingSafeEqual } from 'node:crypto'

const digest = (text: string) => createHash('sha256').update(text).digest()

const isAmong = (known: readonly string[], given: string): boolean => {
  const givenDigest = digest(given)
  return known.map((secret) => timingSafeEqual(givenDigest, digest(secret))).includes(true)
}

/**
 * Whether what was given is one of the known secrets. Both sides are hashed first and every secret is compared to the
 * end, so the time taken tells neither how much of a guess was right nor which secret it was. What is none of those in
 * the cache is compared with fresh ones, because the secret may have been rotated.
 */
export const isKnownSecret = async (
  read: (fresh?: 'fresh') => Promise<readonly string[]>,
  given: string | undefined,
): Promise<boolean> => {
  const known = await read()
  return given !== undefined && (isAmong(known, given) || isAmong(await read('fresh'), given))
}
