/** How often each thing happened in a history; the figures of the reliability report. */
export type Tally = Map<string, number>

export const count = (tally: Tally, what: string): void => void tally.set(what, (tally.get(what) ?? 0) + 1)

export const addTally = (into: Tally, from: Tally): void => {
  for (const [what, times] of from) into.set(what, (into.get(what) ?? 0) + times)
}

/** Adds to the set of a key, which is made for its first value. */
export const addTo = <Key, Value>(
  sets: { get(key: Key): Set<Value> | undefined; set(key: Key, values: Set<Value>): unknown },
  key: Key,
  value: Value,
): void => void sets.set(key, (sets.get(key) ?? new Set()).add(value))
