import type { StoredItem } from '../../../../infra/local/emulators/memory-table/stored-item.ts'
import { text } from '../../../support/recount/books.ts'
import type { World } from '../../world/world.ts'

type EndpointState = { readonly row: StoredItem; readonly sinceMs: number }

export type EndpointStates = {
  /** What an endpoint was at any moment since then: a reader since then may have met any of that. */
  readonly since: (endpointId: string, fromMs: number) => readonly StoredItem[]
  /** Endpoints that a client has had since before then, deleted or not. */
  readonly bornBefore: (clientId: string, ms: number) => readonly string[]
}

/** Keeps what every endpoint has been. */
export const watchEndpointStates = (world: World): EndpointStates => {
  const states = new Map<string, EndpointState[]>()
  const owned = new Map<string, Set<string>>()
  world.onChange.push(({ key, after }) => {
    if (!key.pk.startsWith('ENDPOINTS#') || after === undefined) return
    const [endpointId, clientId] = [text(after, 'endpoint_id'), text(after, 'client_id')]
    owned.set(clientId, (owned.get(clientId) ?? new Set()).add(endpointId))
    states.set(endpointId, [...(states.get(endpointId) ?? []), { row: after, sinceMs: world.scheduler.nowMs() }])
  })
  return {
    since: (endpointId, fromMs) => {
      const all = states.get(endpointId) ?? []
      return all.filter((_, at) => (all[at + 1]?.sinceMs ?? Number.POSITIVE_INFINITY) >= fromMs).map(({ row }) => row)
    },
    bornBefore: (clientId, ms) =>
      [...(owned.get(clientId) ?? [])].filter((id) => (states.get(id)?.[0]?.sinceMs ?? ms) < ms),
  }
}

export const isOn = (endpoint: StoredItem): boolean =>
  endpoint['enabled'] === true && endpoint['deleted_at'] === undefined

/** Whether it wants to hear of such events, switched on or not. */
export const wants = (endpoint: StoredItem, eventName: string): boolean => {
  const types = endpoint['event_types'] as readonly string[]
  const [type = ''] = eventName.split('#')
  const isNamed = types.includes(type) || (types.includes('*') && type !== 'payment.reversed')
  return endpoint['deleted_at'] === undefined && isNamed
}
