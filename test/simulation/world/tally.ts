/** How often each thing happened in a history; the figures of the reliability report. */
export type Tally = Map<string, number>

export const count = (tally: Tally, what: string): void => void tally.set(what, (tally.get(what) ?? 0) + 1)

export const addTally = (into: Tally, from: Tally): void => {
  for (const [what, times] of from) into.set(what, (into.get(what) ?? 0) + times)
}
