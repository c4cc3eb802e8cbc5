import type { TableChange } from '../../../../infra/local/emulators/memory-table/table-view.ts'
import { type RawItem, text } from '../../../support/recount/books.ts'
import type { World } from '../../world/world.ts'
import type { Observations } from '../observations.ts'
import { broken, ms, onWorkersWrite, type Rules, rewrites, type WorkersWrite, watchClocks } from '../rules.ts'
import { type EndpointStates, wants } from './watch-endpoint-rows.ts'

/** A commit is tried with its time for a minute, and its last try takes 17 s. */
const LATEST_COMMIT_MS = 77_000
/** Endpoints are read at most so long before the commit is made ready. */
const READ_BEFORE_MS = 5_000
/** Others may be in the way of a write for so long. */
const TRIES_MS = 10 * 60_000
/** A handler that was answered early is frozen with its environment. In this world its calls in flight are, too. */
const ANSWERS_HTTP = /^(api-|receive-provider-callback)/
/** Who makes a delivery of an event that is there already. */
const REDELIVERS = /^(redeliver|api-redeliver-webhook)$/

const always: Rules<WorkersWrite> = {
  'has due work': ({ after }) => after['work'] !== undefined || after['due_at'] !== undefined,
}

const whenNew: Rules<WorkersWrite> = {
  ...always,
  'is there without its bytes': ({ after }) => text(after, 'body') === '',
  'is new and kept for ever': ({ after }) => after['ttl'] === undefined,
  'is written with a time of long ago': ({ after, worker, nowMs, apartMs }) =>
    !ANSWERS_HTTP.test(worker.name) && ms(after, 'listed_at') < nowMs - LATEST_COMMIT_MS - apartMs / 2,
}

const whenChanged: Rules<WorkersWrite> = {
  ...always,
  'is another one than it was': rewrites('event_id id type client_id owner entity payment_id fired_at listed_at body'),
  'is kept for less time than before': ({ before, after, apartMs }) =>
    Number(after['ttl']) * 1_000 < Number(before['ttl']) * 1_000 - TRIES_MS - apartMs,
}

const newRows = (written: readonly TableChange[], isMeant: (sk: string) => boolean): readonly RawItem[] =>
  written.flatMap(({ key, before, after }) => (before === undefined && after && isMeant(key.sk) ? [after] : []))

/** The keys of the events that new movements of a payment's money must have. */
const movedIn = (written: readonly TableChange[]): readonly string[] =>
  written.flatMap(({ key, before, after }) => {
    const movements = (item: RawItem | undefined) => (item?.['movements'] ?? []) as readonly RawItem[]
    if (key.sk !== 'PAYMENT') return []
    const added = movements(after).slice(movements(before).length)
    return added.map((one) => `${key.pk} EVENT#payment.reversed#${text(one, 'transactionId')}#${text(one, 'type')}`)
  })

/** Checked at every write: an event comes with what it tells of, and one delivery to each endpoint that wants it. */
export const watchAnnouncements = (world: World, seen: Observations, { since, bornBefore }: EndpointStates): void => {
  const apartMs = watchClocks(world)
  /** Deliveries by event and endpoint. */
  const made = new Map<string, string>()

  onWorkersWrite(world, / EVENT#/, (write) => {
    for (const what of broken(write.isNew ? whenNew : whenChanged, write))
      seen.problems.push(`${write.key.pk} ${write.key.sk} ${what}`)
  })

  /** Those that wanted it at every moment at which they may have been read. */
  const wanting = (event: RawItem): readonly string[] => {
    const [clientId = ''] = text(event, 'owner').split('#')
    const eventName = text(event, 'sk').slice('EVENT#'.length)
    const readFromMs = ms(event, 'listed_at') - READ_BEFORE_MS - apartMs() / 2
    return bornBefore(clientId, readFromMs).filter((id) =>
      since(id, readFromMs).every((endpoint) => wants(endpoint, eventName)),
    )
  }

  world.onWritten.push((written) => {
    const deliveries = newRows(written, (sk) => sk === 'DELIVERY').filter(({ payment_id: id }) => id !== undefined)
    const events = newRows(written, (sk) => sk.startsWith('EVENT#'))
    const names = new Set(events.map((event) => `${text(event, 'pk')} ${text(event, 'sk')}`))
    seen.problems.push(
      ...movedIn(written).flatMap((name) => (names.has(name) ? [] : [`money moved without its event ${name}`])),
    )
    for (const event of events) {
      const told = deliveries.filter(({ event_id: id }) => id === event['id']).map((row) => row['endpoint_id'])
      const missing = wanting(event).filter((id) => !told.includes(id))
      seen.problems.push(...missing.map((id) => `event ${text(event, 'id')} is written without a delivery to ${id}`))
    }
    for (const row of deliveries) {
      const [id, place] = [text(row, 'delivery_id'), `${text(row, 'event_id')} ${text(row, 'endpoint_id')}`]
      if (made.has(place)) seen.problems.push(`delivery ${id} is the second of ${place}`)
      made.set(place, id)
      const isAlone = !events.some((event) => event['id'] === row['event_id'])
      if (isAlone && !REDELIVERS.test(world.acting?.name ?? ''))
        seen.problems.push(`delivery ${id} is made without its event`)
    }
  })
}
