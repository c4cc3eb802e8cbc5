import type { Taken, Waiting } from './scheduler.ts'

/** What a request touches: an item, or a partition, or all indexes. A write touches all three. */
const touched = (call: Waiting): { readonly names: readonly string[]; readonly isWrite: boolean } => {
  if ('steps' in call) {
    const names = call.steps.flatMap(({ key: { pk, sk } }) => [`${pk}\n${sk}`, pk])
    return { names: [...names, 'indexes'], isWrite: true }
  }
  if ('keys' in call) return { names: call.keys.map(({ pk, sk }) => `${pk}\n${sk}`), isWrite: false }
  if ('ms' in call) return { names: [], isWrite: false }
  return { names: [call.query.index === undefined ? String(call.query.partition[0]) : 'indexes'], isWrite: false }
}

/**
 * Which requests of one action another action could notice, by what all actions touched in some schedules. A request that
 * shares nothing is local: where it happens makes no difference.
 */
export const sharedKeys = (schedules: readonly (readonly Taken[])[]) => {
  const readers = new Map<string, Set<number>>()
  const writers = new Map<string, Set<number>>()
  for (const { action, call } of schedules.flat()) {
    if (action === 'show' || call === undefined) continue
    const { names, isWrite } = touched(call)
    const all = isWrite ? writers : readers
    for (const name of names) all.set(name, (all.get(name) ?? new Set()).add(action))
  }
  const hasOther = (set: ReadonlySet<number> | undefined, action: number) =>
    set !== undefined && [...set].some((other) => other !== action)
  return {
    isLocal: (action: number, call: Waiting): boolean => {
      if (call.name === 'sleep') return false
      const { names, isWrite } = touched(call)
      return names.every((name) => {
        // Indexes are read by few, and every write is one to them.
        const isKnown = name === 'indexes' || readers.get(name)?.has(action) || writers.get(name)?.has(action)
        return (
          isKnown &&
          !hasOther(writers.get(isWrite && name === 'indexes' ? '' : name), action) &&
          !(isWrite && hasOther(readers.get(name), action))
        )
      })
    },
  }
}
