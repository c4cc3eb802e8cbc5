/** A seeded source of randomness: the same seed gives the same history, on every machine. */
export type Prng = {
  /** Uniform in [0, 1). */
  next(): number
  /** A whole number from `low` to `high`, both included. */
  int(low: number, high: number): number
  chance(probability: number): boolean
  pick<T>(items: readonly T[]): T
  bytes(length: number): Buffer
  uuid(): string
  /** A separate source: draws of one part of the world do not shift the draws of another part. */
  fork(): Prng
}

/**
 * Mulberry32: 32 bits of state are plenty for one history, and the arithmetic is exact in
 * JavaScript.
 */
export function createPrng(seed: number): Prng {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = state
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
  const int = (low: number, high: number) => low + Math.floor(next() * (high - low + 1))
  const bytes = (length: number) => {
    const drawn = Buffer.alloc(length)
    for (let at = 0; at < length; at++) drawn[at] = int(0, 255)
    return drawn
  }
  return {
    next,
    int,
    chance: (probability) => next() < probability,
    pick: (items) => {
      const item = items[int(0, items.length - 1)]
      if (item === undefined) throw new Error('nothing to pick from')
      return item
    },
    bytes,
    uuid: () => {
      const id = bytes(16)
      id[6] = ((id[6] ?? 0) & 0x0f) | 0x40
      id[8] = ((id[8] ?? 0) & 0x3f) | 0x80
      const hex = id.toString('hex')
      return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`
    },
    fork: () => createPrng(int(0, 4_294_967_295)),
  }
}
