import type { StoredItem } from '../../infra/local/emulators/memory-table/stored-item.ts'

/** 53 bits of a text (cyrb53): enough to tell some hundred thousand states apart. */
export const hashOf = (text: string, seed = 0): number => {
  let high = 0xdeadbeef ^ seed
  let low = 0x41c6ce57 ^ seed
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    high = Math.imul(high ^ unit, 2_654_435_761)
    low = Math.imul(low ^ unit, 1_597_334_677)
  }
  high = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909)
  low = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(high ^ (high >>> 13), 3_266_489_909)
  return 4_294_967_296 * (2_097_151 & low) + (high >>> 0)
}

/** Stored items never change, so each is read once. */
const hashes = new WeakMap<StoredItem, number>()

export const hashOfItem = (item: StoredItem | undefined): number => {
  if (item === undefined) return 0
  const hash = hashes.get(item) ?? hashOf(JSON.stringify(item))
  hashes.set(item, hash)
  return hash
}
