/** Waiting items of many owners, handed out in turns. */
export type DueTurns<Item> = {
  /** False when more items of this owner wait than one worker can handle. */
  add(owner: string, item: Item): boolean
  /** The next ones, one of each owner at a time. */
  take(most: number): readonly Item[]
  /** Taken and not handled: they come first again, in the order given. */
  putBack(items: readonly Item[]): void
  readonly owners: number
}

/** The most items of one owner in memory. The rest stays due and is read again. */
const MOST_OF_ONE_OWNER = 500

/**
 * Owners take turns: an owner that was served goes to the end, so one owner's thousand items delay another by at most
 * one item at a time. The items of one owner keep their order.
 */
export const dueTurns = <Item>(ownerOf: (item: Item) => string): DueTurns<Item> => {
  // A map keeps the order in which its keys were set: the first one is next.
  const waiting = new Map<string, Item[]>()
  return {
    add: (owner, item) => {
      const own = waiting.get(owner) ?? []
      if (own.length >= MOST_OF_ONE_OWNER) return false
      own.push(item)
      waiting.set(owner, own)
      return true
    },
    take: (most) => {
      const taken: Item[] = []
      while (taken.length < most) {
        const [next] = waiting
        if (next === undefined) break
        const [owner, [first, ...rest]] = next
        waiting.delete(owner)
        if (first !== undefined) taken.push(first)
        if (rest.length > 0) waiting.set(owner, rest)
      }
      return taken
    },
    putBack: (items) => {
      const others = [...waiting]
      waiting.clear()
      for (const item of items) waiting.set(ownerOf(item), [...(waiting.get(ownerOf(item)) ?? []), item])
      for (const [owner, own] of others) waiting.set(owner, [...(waiting.get(owner) ?? []), ...own])
    },
    get owners() {
      return waiting.size
    },
  }
}
