import { createHash, timingSafeEqual } from 'node:crypto'

const digest = (text: string) => createHash('sha256').update(text).digest()

/**
 * Whether what was given is one of the known secrets. Both sides are hashed first and every secret is compared to the
 * end, so the time taken tells neither how much of a guess was right nor which secret it was.
 */
export const isKnownSecret = (known: readonly string[], given: string | undefined): boolean => {
  const givenDigest = digest(given ?? '')
  return known.map((secret) => timingSafeEqual(givenDigest, digest(secret))).includes(true)
}
