import type { StoredItem } from '../../../../infra/local/emulators/memory-table/stored-item.ts'
import { text } from '../../../support/recount/books.ts'
import type { World } from '../../world/world.ts'

type EndpointState = { readonly row: StoredItem; readonly sinceMs: number }

export type EndpointStates = {
  /** What an endpoint was at any moment since then: whoever has read it since may have met any of that. */
  readonly since: (endpointId: string, fromMs: number) => readonly StoredItem[]
  /** It was there already, and is what it was. */
  readonly hasStayed: (endpointId: string, fromMs: number) => boolean
}

/** Keeps what every endpoint has been. */
export const watchEndpointStates = (world: World): EndpointStates => {
  const states = new Map<string, EndpointState[]>()
  world.onChange.push(({ key, after }) => {
    if (!key.pk.startsWith('ENDPOINTS#') || after === undefined) return
    const endpointId = text(after, 'endpoint_id')
    states.set(endpointId, [...(states.get(endpointId) ?? []), { row: after, sinceMs: world.scheduler.nowMs() }])
  })
  return {
    since: (endpointId, fromMs) => {
      const all = states.get(endpointId) ?? []
      return all.filter((_, at) => (all[at + 1]?.sinceMs ?? Number.POSITIVE_INFINITY) >= fromMs).map(({ row }) => row)
    },
    hasStayed: (endpointId, fromMs) => (states.get(endpointId)?.at(-1)?.sinceMs ?? Number.POSITIVE_INFINITY) < fromMs,
  }
}

export const isOn = (endpoint: StoredItem): boolean =>
  endpoint['enabled'] === true && endpoint['deleted_at'] === undefined

/** Whether it wants to hear of such events, switched on or not. */
export const wants = (endpoint: StoredItem, eventType: string): boolean => {
  const types = endpoint['event_types'] as readonly string[]
  return endpoint['deleted_at'] === undefined && (types.includes('*') || types.includes(eventType))
}
