import { booksOf, type RawItem, text } from '../../support/recount/books.ts'
import { http, tenantOf } from '../scenes/http.ts'
import { type Ask } from '../watching/read-back.ts'
import type { HttpReply } from '../world/lambda.ts'
import { createPrng, type Prng } from '../world/prng.ts'
import type { Tenant } from '../world/tenants.ts'
import { count, trace } from '../world/world.ts'
import type { Play } from './operations.ts'

/** A merchant's program that polls its events: what it has seen, and its position after a restart. */
export type EventPoller = {
  readonly tenant: Tenant
  readonly prng: Prng
  /** Each event's bytes, by its id. */
  readonly shown: Map<string, string>
  /** The latest `timestamp` of the shown events. */
  newest: string
  next: string | undefined
}

/** The time in the event, and the time of its commit. */
export type FiredEvent = { readonly firedAt: string; readonly committedMs: number }

const LIST_EVENTS = 'api-list-events'
const LIMITS = ['1', '3', '7', '100']

/** A poller has its own source of randomness, so its draws shift no other. */
const pollerOf = ({ pollers }: Play, tenant: Tenant): EventPoller => {
  const known = pollers.get(tenant.clientId)
  if (known) return known
  const prng = createPrng(Number.parseInt(tenant.clientId.slice(0, 8), 16))
  const poller: EventPoller = { tenant, prng, shown: new Map(), newest: '', next: undefined }
  pollers.set(tenant.clientId, poller)
  return poller
}

type Page = { readonly data: readonly object[]; readonly next: string; readonly has_more: boolean }

/** Notes the events of an answer, byte for byte. */
const note = (poller: EventPoller, { text: answer, body }: HttpReply): Page => {
  const page = body as Page
  for (const envelope of page.data) {
    const bytes = JSON.stringify(envelope)
    if (answer.includes(bytes)) poller.shown.set(String(Reflect.get(envelope, 'event_id')), bytes)
    const firedAt = String(Reflect.get(envelope, 'timestamp'))
    if (firedAt > poller.newest) poller.newest = firedAt
  }
  return page
}

const queryOf = ({ prng, next }: EventPoller) => ({
  limit: prng.pick(LIMITS),
  ...(next !== undefined && { after: next }),
})

/** One poll. Sometimes the program dies after the answer, before it stores its position. */
const look = async (play: Play, poller: EventPoller): Promise<void> => {
  const [query, askedMs] = [queryOf(poller), play.world.scheduler.nowMs()]
  const reply = await http(play, poller.tenant, LIST_EVENTS, { query })
  count(play.world.tally, `events answered ${reply?.status ?? 'nothing'}`)
  if (reply?.status !== 200) return
  const newest = poller.newest
  const { next, has_more: hasMore } = note(poller, reply)
  play.seen.problems.push(...lookProblems(play, poller, { askedMs, after: query.after, newest, next, hasMore }))
  if (poller.prng.chance(0.2)) trace(play.world, () => 'a reader of events starts again where it was')
  else poller.next = next
}

/** The longest lag of an index, and with it the time that a commit takes. */
const LATEST_LOOK_MS = 90_000
const KNOWN_MS = LATEST_LOOK_MS + 5_000

/** After five minutes no earlier event appears. The two clocks may each be ten seconds wrong. */
const SETTLED_MS = 5 * 60_000 + 2 * 10_000

type Look = {
  readonly askedMs: number
  readonly after: string | undefined
  /** The latest `timestamp` shown before this poll. */
  readonly newest: string
  readonly next: string
  readonly hasMore: boolean
}

/** `next` moves while there is more. At the end the merchant has seen each event that must be listed by now. */
const lookProblems = ({ fired }: Play, poller: EventPoller, met: Look): readonly string[] => {
  const { clientId } = poller.tenant
  const { askedMs, newest, hasMore } = met
  const unseen = [...(fired.get(clientId) ?? [])].filter(
    ([id, { firedAt, committedMs }]) =>
      !poller.shown.has(id) && committedMs < askedMs - (firedAt > newest ? KNOWN_MS : SETTLED_MS),
  )
  return [
    ...(hasMore && met.next === met.after ? [`${clientId} is told of more events, and led nowhere`] : []),
    ...(hasMore ? [] : unseen.map(([id]) => `${clientId} is not shown ${id}, of minutes ago`)),
  ]
}

/** Soon after each event its merchant polls, while the index may lack some events. */
export const watchEvents = (play: Play): void => {
  const { world } = play
  world.onChange.push(({ key, before, after }) => {
    const tenant = tenantOf(play, String(after?.['owner']).split('#')[0])
    if (before !== undefined || !key.sk.startsWith('EVENT#') || tenant === undefined) return
    const poller = pollerOf(play, tenant)
    const fired = play.fired.get(tenant.clientId) ?? new Map<string, FiredEvent>()
    const event = { firedAt: String(after?.['listed_at']), committedMs: world.scheduler.nowMs() }
    play.fired.set(tenant.clientId, fired.set(String(after?.['id']), event))
    const again = () => poller.prng.int(1, LATEST_LOOK_MS)
    for (const lookMs of [again(), again(), again()]) world.scheduler.after(lookMs, () => void look(play, poller))
  })
}

/** At rest: a poller that followed `next` to its end has seen every event and no other. */
export const pollerProblems = async (
  play: Play,
  tenant: Tenant,
  items: readonly RawItem[],
  ask: Ask,
): Promise<readonly string[]> => {
  const poller = pollerOf(play, tenant)
  const events = booksOf(items).events.filter((event) => event['client_id'] === tenant.clientId)
  for (let asked = 0, more = true; more; asked++) {
    if (asked > events.length + 1) return [`${tenant.clientId} never comes to the end of its events`]
    const reply = await ask(LIST_EVENTS, { query: queryOf(poller) })
    if (reply?.status !== 200) return [`${tenant.clientId} was answered ${reply?.text ?? 'nothing'} for its events`]
    const page = note(poller, reply)
    poller.next = page.next
    more = page.has_more
  }
  const stored = new Map(events.map((event) => [text(event, 'event_id'), text(event, 'body')]))
  const lost = [...stored].filter(([id, body]) => poller.shown.get(id) !== body)
  const invented = [...poller.shown.keys()].filter((id) => !stored.has(id))
  return [
    ...lost.map(([id]) => `${tenant.clientId} followed its events and was never shown ${id} as it was sent`),
    ...invented.map((id) => `${tenant.clientId} was shown an event ${id} that there is not`),
  ]
}
