export type Tally = Map<string, number>

export function count(tally: Tally, what: string) {
  void tally.set(what, (tally.get(what) ?? 0) + 1)
}

export function addTally(into: Tally, from: Tally) {
  for (const [what, times] of from) into.set(what, (into.get(what) ?? 0) + times)
}
