import type { UpdatedFields } from '../../../shared/table/access.ts'
import type { fieldsOfUpdates } from './fields-of-updates.ts'
import type { ReachableUpdates } from './reachable-table-access.ts'

/** What the updates that a function can reach change or compare, without keys. */
export function updatedFields(
  reachable: ReachableUpdates,
  fieldsOf: ReturnType<typeof fieldsOfUpdates>,
): UpdatedFields {
  const fields = new Map<string, Set<string>>()
  for (const [place, kindsOfEach] of reachable) {
    // A bundle numbers declarations that have one name.
    const updates = fieldsOf.get(place) ?? fieldsOf.get(place.replace(/\d+$/, '')) ?? []
    if (updates.length !== kindsOfEach.length)
      throw new Error(
        `${place} has ${updates.length} updates, and ${kindsOfEach.length} in a bundle`,
      )
    for (const [at, kinds] of kindsOfEach.entries())
      for (const kind of kinds)
        fields.set(kind, (fields.get(kind) ?? new Set()).union(new Set(updates[at])))
  }
  const isKey = (name: string) => ['pk', 'sk'].includes(name)
  return Object.fromEntries(
    [...fields].map(([kind, names]) => [
      kind,
      [...names].filter((name) => !isKey(name)).toSorted(),
    ]),
  )
}
