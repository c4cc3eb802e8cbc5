import type { Agenda } from './agenda.ts'
import { ProviderError } from './provider-error.ts'
import type { RequestRecord, Store } from './simulator-store.ts'

/** What every step of the simulator works on. All that varies (time, ids, addresses) comes in through it. */
export type World = {
  readonly store: Store
  readonly agenda: Agenda
  readonly nowMs: () => number
  /** A fresh lowercase UUID. */
  readonly newUuid: () => string
  /** Where the simulator is reached; checkout pages live there. */
  readonly baseUrl: () => string
}

/** Now as RFC 3339 UTC text with milliseconds. */
export const timestampNow = (world: World) => toTimestamp(world.nowMs())

export const toTimestamp = (ms: number) => new Date(ms).toISOString()

/** The next number of a named sequence, from 1; kept with the state. */
export const nextInSequence = (world: World, name: string) => {
  const count = (world.store.sequences.get(name)?.count ?? 0) + 1
  world.store.sequences.put({ id: name, count })
  return count
}

/** Throws `DATA_NOT_FOUND` for an unknown id. */
export const requireRequest = (world: World, id: string): RequestRecord => {
  const record = world.store.requests.get(id)
  if (!record) throw new ProviderError('DATA_NOT_FOUND', `Payment request '${id}' is not found`)
  return record
}
