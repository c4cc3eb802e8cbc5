import type { TableChange } from '../../../infra/local/emulators/memory-table/table-view.ts'
import { type RawItem, text } from '../../support/recount/books.ts'
import { ms, onWorkersWrite, type States, watchClocks } from '../world/rules.ts'
import type { World } from '../world/world.ts'
import { wants } from './watch-endpoints.ts'

/** A commit keeps its time for tries of a minute, and its last try takes 17 s. */
const LATEST_COMMIT_MS = 77_000
/** The longest time between the read of the endpoints and the time of the commit. */
const READ_BEFORE_MS = 5_000
/** Functions whose caller may be answered early: their environment then freezes, with the calls in flight. */
const ANSWERS_HTTP = /^(api-|receive-provider-callback)/
/** Functions that make a delivery of a stored event. */
const REDELIVERS = /^(redeliver|api-redeliver-webhook)$/

const newRows = (written: readonly TableChange[], isMeant: (sk: string) => boolean): readonly RawItem[] =>
  written.flatMap(({ key, before, after }) => (before === undefined && after && isMeant(key.sk) ? [after] : []))

/** Checked at every write: an event comes with its payment, and with a delivery to each endpoint that wants it. */
export const watchAnnouncements = (world: World, { of, since }: States): void => {
  const apartMs = watchClocks(world)
  onWorkersWrite(world, / EVENT#/, ({ key, after, isNew, worker, nowMs }) => {
    const isOld = ms(after, 'listed_at') < nowMs - LATEST_COMMIT_MS - apartMs() / 2
    if (isNew && isOld && !ANSWERS_HTTP.test(worker.name))
      world.problems.push(`${key.pk} ${key.sk} is written with an old time`)
  })

  /** The endpoints that wanted it at every moment at which the worker may have read them. */
  const wanting = (event: RawItem): readonly string[] => {
    const [clientId = ''] = text(event, 'owner').split('#')
    const eventName = text(event, 'sk').slice('EVENT#'.length)
    const readFromMs = ms(event, 'listed_at') - READ_BEFORE_MS - apartMs() / 2
    return [...of].flatMap(([id, [first]]) => {
      const isOlder = first?.row['client_id'] === clientId && first.sinceMs < readFromMs
      return isOlder && since(id, readFromMs).every((endpoint) => wants(endpoint, eventName)) ? [id] : []
    })
  }

  world.onWritten.push((written) => {
    const deliveries = newRows(written, (sk) => sk === 'DELIVERY').filter(({ payment_id: id }) => id !== undefined)
    const events = newRows(written, (sk) => sk.startsWith('EVENT#'))
    for (const event of events) {
      const announcedTo = deliveries.filter(({ event_id: id }) => id === event['id']).map((row) => row['endpoint_id'])
      const missing = wanting(event).filter((id) => !announcedTo.includes(id))
      world.problems.push(...missing.map((id) => `event ${text(event, 'id')} is written without a delivery to ${id}`))
    }
    for (const row of deliveries) {
      const isAlone = !events.some((event) => event['id'] === row['event_id'])
      if (isAlone && !REDELIVERS.test(world.acting?.name ?? ''))
        world.problems.push(`delivery ${text(row, 'delivery_id')} is made without its event`)
    }
  })
}
