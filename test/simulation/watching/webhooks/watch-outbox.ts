import type { StoredItem } from '../../../../infra/local/emulators/memory-table/stored-item.ts'
import { text } from '../../../support/recount/books.ts'
import type { World } from '../../world/world.ts'
import type { Observations } from '../observations.ts'
import { broken, isChanged, ms, onWrite, type RowWrite, type Rule, watchStarts } from '../row-write.ts'
import { type EndpointStates, wants } from './endpoint-states.ts'

type Write = RowWrite & {
  readonly eventType: string
  /** Endpoints that have wanted it for as long as its worker looks, and to which it has no delivery, or one without a message. */
  readonly unserved: readonly string[]
}

const FIXED = ['event_id', 'id', 'type', 'client_id', 'owner', 'entity', 'payment_id', 'fired_at', 'listed_at', 'body']
/** A commit is tried with its time for a minute, and its last try takes 17 s. */
const LATEST_COMMIT_MS = 77_000
/** Others may be in the way of a write for so long. */
const TRIES_MS = 10 * 60_000
/** What was answered early stands still with its environment, and what is on its way in it does so in this world, too. */
const ANSWERS_HTTP = /^(api-|receive-provider-callback)/

const timeOf = (item: StoredItem): number => ms(item, item['fired_at'] === undefined ? 'listed_at' : 'fired_at')

const whenNew: readonly Rule<Write>[] = [
  ['is there without its bytes', ({ after }) => text(after, 'body') === ''],
  ['is new and nobody has to tell it', ({ after }) => after['work'] !== 'event' || after['due_at'] === undefined],
  [
    'is written with a time of long ago',
    ({ after, worker, nowMs, apartMs }) =>
      !ANSWERS_HTTP.test(worker.name) && timeOf(after) < nowMs - LATEST_COMMIT_MS - apartMs / 2,
  ],
]

const whenChanged: readonly Rule<Write>[] = [
  ['is another one than it was', ({ before, after }) => before !== undefined && isChanged(before, after, FIXED)],
  [
    'is due again although it was told',
    ({ before, after }) => before?.['due_at'] === undefined && after['due_at'] !== undefined,
  ],
  [
    'is put off before its time',
    ({ before, after, nowMs, apartMs }) =>
      after['due_at'] !== undefined && before?.['due_at'] !== after['due_at'] && ms(before, 'due_at') > nowMs + apartMs,
  ],
  [
    'leaves the due work and is kept for ever',
    ({ before, after }) =>
      before?.['due_at'] !== undefined && after['due_at'] === undefined && after['ttl'] === undefined,
  ],
  [
    'is kept for less time than before',
    ({ before, after, apartMs }) => Number(after['ttl']) * 1_000 < Number(before?.['ttl']) * 1_000 - TRIES_MS - apartMs,
  ],
  [
    'leaves the due work before all have a delivery with its message',
    ({ before, after, unserved }) =>
      before?.['due_at'] !== undefined && after['due_at'] === undefined && unserved.length > 0,
  ],
]

type Served = { readonly id: string; readonly endpointId: string; hasMessage: boolean }

/** Checked at every write to an event: its bytes stay, and it is due until everybody who must hear of it will. */
export const watchOutbox = (world: World, seen: Observations, { hasStayed }: EndpointStates): void => {
  const startedMs = watchStarts(world)
  /** Deliveries by their ids, and those of each event. */
  const served = new Map<string, Served>()
  const ofEvent = new Map<string, Served[]>()

  world.onMessage.push((_, { body }) => {
    const delivery = served.get(String(Reflect.get(body, 'delivery_id')))
    if (delivery) delivery.hasMessage = true
  })
  world.onChange.push(({ key, before, after }) => {
    if (key.sk !== 'DELIVERY' || before !== undefined || after === undefined) return
    const isWaiting = (after['status'] ?? after['state']) === 'scheduled'
    const one = {
      id: text(after, 'delivery_id'),
      endpointId: text(after, 'endpoint_id'),
      hasMessage: !isWaiting,
    }
    served.set(text(after, 'delivery_id'), one)
    ofEvent.set(text(after, 'event_id'), [...(ofEvent.get(text(after, 'event_id')) ?? []), one])
  })

  /** One whose first attempt was made needs no message any more. */
  const isServed = ({ id, hasMessage }: Served): boolean => {
    const row = world.table.item({ pk: `DELIVERY#${id}`, sk: 'DELIVERY' })
    return hasMessage || (row?.['status'] ?? row?.['state']) !== 'scheduled' || Number(row?.['attempts']) > 0
  }

  /** Whoever was there, and stayed as it was, since before its worker began. */
  const unservedOf = (row: RowWrite, eventType: string): readonly string[] => {
    const { before, after, worker } = row
    if (before?.['due_at'] === undefined || after['due_at'] !== undefined) return []
    const clientId = text(after, 'owner').split('#')[0]
    const told = ofEvent.get(text(after, 'id')) ?? []
    return world.table.items(`ENDPOINTS#${clientId}`).flatMap((endpoint) => {
      const id = text(endpoint, 'endpoint_id')
      const mustHear = hasStayed(id, startedMs(worker)) && wants(endpoint, eventType)
      return mustHear && !told.some((one) => one.endpointId === id && isServed(one)) ? [id] : []
    })
  }

  onWrite(
    world,
    ({ sk }) => sk.startsWith('EVENT#'),
    (row) => {
      const eventType = row.key.sk.slice('EVENT#'.length)
      const write: Write = { ...row, eventType, unserved: unservedOf(row, eventType) }
      for (const what of broken(row.before === undefined ? whenNew : whenChanged, write))
        seen.problems.push(`${row.key.pk} ${row.key.sk} ${what}`)
    },
  )
}
