import * as fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import type { Event } from '../../../shared/event/event.ts'
import {
  type ClientId,
  eventIdFor,
  PaymentIdSchema,
  subjectOfPayment,
} from '../../../shared/ids.ts'
import { applyProviderNews } from '../../../shared/payment/news/apply-news.ts'
import { deflateText } from '../../../shared/table/deflated-text.ts'
import { eventKey } from '../../../shared/table/keys.ts'
import { isNew, put } from '../../../shared/table/step.ts'
import { addMs, DAY_MS, SECOND_MS, type Timestamp } from '../../../shared/time.ts'
import {
  API,
  type ApiResponse,
  anApi,
  anApiClient,
  aPaymentBody,
  call,
  type Query,
} from '../../support/api-event.ts'
import { payFirst } from '../../support/payment-builders.ts'
import { runs } from '../../support/runs.ts'
import { changeRow } from '../../support/tampering.ts'
import { depsWithLateIndexes, memoryDeps, type TestDeps } from '../../support/test-deps.ts'
import { anEvent } from '../../support/webhook-builders.ts'

async function eventRow(
  deps: TestDeps,
  clientId: ClientId,
  firedAt: Timestamp,
  fields: Partial<Event> = {},
) {
  const event = anEvent(firedAt, { clientId, ...fields })
  const index = { owner: clientId, entity: 'event', listedAt: firedAt, id: event.eventId }
  const row = { ...event, body: deflateText(event.body), ...index }
  await deps.table.write(put(eventKey(event.subject, event.name), row, isNew))
  return event
}

function idsIn({ body }: ApiResponse) {
  return (body['data'] as { event_id: string }[]).map(({ event_id: id }) => id)
}

function nextOf({ body }: ApiResponse) {
  return { after: String(body['next']) }
}

function page(events: readonly Event[], { body }: ApiResponse) {
  return `{"data":[${events.map((event) => event.body).join()}],"next":${JSON.stringify(body['next'])},"has_more":false}`
}

/** The cursor of a reader who has seen everything before a position. */
function cursorAt(position: object) {
  return Buffer.from(JSON.stringify({ settled: position, young: position })).toString('base64url')
}
function cursorFrom(since: string) {
  return cursorAt({ fired_at: since })
}
function cursorFor({ eventId, subject, name, firedAt }: Event) {
  return cursorAt({ event_id: eventId, subject, name, fired_at: firedAt })
}

describe('GET /v1/events (design section 8)', () => {
  it('shows only the client’s own events: another client’s cursor is only a time, and reveals nothing', async () => {
    const { deps, caller, ask } = await anApi()
    const stranger = await anApiClient(deps)
    const start = deps.now()
    const hiddenEvents = [
      await eventRow(deps, stranger.clientId, start),
      await eventRow(deps, stranger.clientId, addMs(start, 2)),
    ]
    const ownEvent = await eventRow(deps, caller.clientId, addMs(start, 1))
    deps.clock.advance(600)
    const foreignPage = await call(deps, API.listEvents, {
      caller: stranger,
      query: { limit: '1' },
    })
    expect(idsIn(foreignPage)).toStrictEqual([hiddenEvents[0]?.eventId])

    const answers = [
      await ask('listEvents', { query: nextOf(foreignPage) }),
      await ask('listEvents', { query: { after: cursorFrom(addMs(start, 1)) } }),
      await ask('listEvents', { query: { since: start } }),
    ]

    for (const answer of answers) expect(answer.text).toBe(page([ownEvent], answer))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })

  it('shows payment.succeeded with the payment as its data, as fetch shows it without the expiry (spec 6.2)', async () => {
    const { deps, ask } = await anApi()
    const sent = { external_reference: 'order-1', customer: { name: 'Siti' }, metadata: { a: 1 } }
    const body = aPaymentBody({ ...sent, description: 'Kopi' })
    const id = String((await ask('createPayment', { body })).body['id'])
    const { providerPaymentId } = payFirst(deps)
    deps.clock.advance(90)
    await applyProviderNews(deps, { providerPaymentId }, 'callback')
    const timestamp = deps.now()
    deps.clock.advance(60)

    const shown = (await ask('listEvents')).body['data'] as readonly object[]

    const { expires_at: _, ...data } = (await ask('getPayment', { id })).body
    const event_id = eventIdFor(subjectOfPayment(v.parse(PaymentIdSchema, id)), 'payment.succeeded')
    expect(shown).toStrictEqual([{ event: 'payment.succeeded', event_id, timestamp, data }])
    expect(data).toMatchObject({ ...sent, status: 'succeeded', paid_at: timestamp })
  })

  it('shows an event that the index lists after the longest lag, and after a later event', async () => {
    const { deps, catchUp } = depsWithLateIndexes('EVENT#payment#0')
    const { caller, ask } = await anApi({}, deps)
    const aPayment = (first: string) =>
      subjectOfPayment(v.parse(PaymentIdSchema, `${first}0000000-0000-4000-8000-000000000001`))
    const lateEvent = await eventRow(deps, caller.clientId, deps.now(), { subject: aPayment('0') })
    const nextEvent = await eventRow(deps, caller.clientId, addMs(deps.now(), 1), {
      subject: aPayment('f'),
    })
    deps.clock.advance(187)
    const answers = [await ask('listEvents')]
    catchUp()
    for (const seconds of [0, 113, 1, 0]) {
      deps.clock.advance(seconds)
      answers.push(await ask('listEvents', { query: answers.slice(-1).map(nextOf)[0] ?? {} }))
    }

    expect(answers.map(idsIn)).toStrictEqual([
      [nextEvent.eventId],
      [],
      [lateEvent.eventId],
      [nextEvent.eventId],
      [],
    ])
  })

  it('leaves out an event whose bytes cannot be read or name another client', async () => {
    const { deps, caller, ask } = await anApi({}, memoryDeps())
    const damaged = await eventRow(deps, caller.clientId, deps.now())
    await eventRow(deps, caller.clientId, deps.now(), { body: anEvent(deps.now()).body })
    const event = await eventRow(deps, caller.clientId, addMs(deps.now(), 1))
    const key = eventKey(damaged.subject, damaged.name)
    await changeRow(deps, key, { set: { body: damaged.body } })

    expect(idsIn(await ask('listEvents'))).toStrictEqual([event.eventId])
  })

  it('shows events of at most 90 days, even after older cursors', async () => {
    const { deps, caller, ask } = await anApi({}, memoryDeps())
    const start = deps.now()
    const deleted = await eventRow(deps, caller.clientId, start)
    const oldest = await eventRow(deps, caller.clientId, addMs(start, 1))
    deps.clock.set(addMs(start, 90 * DAY_MS + 1))

    for (const after of ['', cursorFor(deleted), cursorFrom(start)])
      for (const since of ['', '2020-01-01T00:00:00Z'])
        expect(idsIn(await ask('listEvents', { query: { after, since } }))).toStrictEqual([
          oldest.eventId,
        ])
    deps.clock.advance(1)
    const empty = await ask('listEvents', { query: { after: cursorFor(oldest) } })
    const next = cursorFrom(addMs(deps.now(), -90 * DAY_MS))
    expect(empty.body).toStrictEqual({ data: [], next, has_more: false })
  })

  it('ends a page early at Lambda’s response limit, and the next page continues', async () => {
    const { deps, caller, ask } = await anApi({}, memoryDeps())
    const { clientId } = caller
    const body = JSON.stringify({ data: { client_id: clientId, text: '"'.repeat(190_000) } })
    for (let at = 0; at < 8; at++) await eventRow(deps, clientId, addMs(deps.now(), at), { body })

    const first = await ask('listEvents')
    const second = await ask('listEvents', { query: nextOf(first) })

    expect(
      [first, second].map((answer) => [answer.body['data'], answer.body['has_more']]),
    ).toStrictEqual([
      [Array(6).fill(expect.anything()), true],
      [Array(2).fill(expect.anything()), false],
    ])
    expect(JSON.stringify({ body: first.text }).length).toBeLessThan(6_000_000)
  })

  it('accepts `since` in any time zone, prefers `after` to `since`, and shows 25 events by default', async () => {
    const { deps, caller, ask } = await anApi({}, memoryDeps())
    const events: Event[] = []
    for (let at = 0; at < 101; at++)
      events.push(await eventRow(deps, caller.clientId, addMs(deps.now(), at)))
    const [first, second] = events
    const jakarta = second?.firedAt.replace('T04:', 'T11:').replace('Z', '+07:00') ?? ''

    expect(idsIn(await ask('listEvents', { query: { since: jakarta, limit: '1' } }))).toStrictEqual(
      [second?.eventId],
    )
    const both = { since: '2999-01-01T00:00:00Z', after: first ? cursorFor(first) : '', limit: '1' }
    expect(idsIn(await ask('listEvents', { query: both }))).toStrictEqual([second?.eventId])
    const farFuture = cursorFrom('8999-12-31T23:59:59.999Z')
    expect(idsIn(await ask('listEvents', { query: { after: farFuture } }))).toStrictEqual([])
    const lengths = []
    for (const limit of ['', '0', '-7', '100', '9'.repeat(400)])
      lengths.push(idsIn(await ask('listEvents', { query: { limit } })).length)
    expect(lengths).toStrictEqual([25, 1, 1, 100, 100])
  })
})

const HOLD_BACK_SECONDS = 300
const POLL_SECONDS = 10

type Ask = Awaited<ReturnType<typeof anApi>>['ask']

async function poll(ask: Ask, limit: number, query: Query) {
  const pages: string[][] = []
  for (let more = true; more; ) {
    const answer = await ask('listEvents', { query: { ...query, limit: String(limit) } })
    expect(pages.push(idsIn(answer))).toBeLessThan(100)
    query = nextOf(answer)
    more = answer.body['has_more'] === true
  }
  return { pages, query }
}

describe('a client that follows `next` of GET /v1/events (design section 8)', () => {
  it('gets each event at the first poll, and again five minutes later, for any limit', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 600 }), { maxLength: 25 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 0, max: 600 }),
        fc.option(fc.integer({ min: 0, max: 700 }), { nil: undefined }),
        async (seconds, limit, firstPoll, since) => {
          const { deps, caller, ask } = await anApi({}, memoryDeps())
          const start = deps.now()
          const moment = (second: number) => addMs(start, second * SECOND_MS)
          const polls = Array.from({ length: 130 }, (_, at) => firstPoll + at * POLL_SECONDS)
          const queue = seconds.toSorted((a, b) => a - b)
          const events: (readonly [second: number, event: Event])[] = []
          const shownAt = new Map<string, number[]>()
          let query: Query = since === undefined ? {} : { since: moment(since) }
          for (const second of polls) {
            for (; (queue[0] ?? Number.POSITIVE_INFINITY) <= second; queue.shift()) {
              events.push([
                queue[0] ?? 0,
                await eventRow(deps, caller.clientId, moment(queue[0] ?? 0)),
              ])
            }
            deps.clock.set(moment(second))
            const answer = await poll(ask, limit, query)
            query = answer.query
            const places = events.map(([, { firedAt, eventId }]) => `${firedAt} ${eventId}`)
            const order = places.toSorted().map((place) => place.split(' ')[1] ?? '')
            for (const [at, ids] of answer.pages.entries()) {
              expect(ids).toStrictEqual(order.filter((id) => ids.includes(id)))
              for (const id of ids) shownAt.set(id, [...(shownAt.get(id) ?? []), second])
              expect(ids.length).toBeLessThanOrEqual(limit)
              if (at < answer.pages.length - 1) expect(ids).not.toHaveLength(0)
            }
          }
          for (const [second, { eventId }] of events) {
            const [first, again] = [second, second + HOLD_BACK_SECONDS].map((from) =>
              polls.find((at) => at >= from),
            )
            const isAsked = since === undefined || second >= since
            expect(shownAt.get(eventId) ?? []).toStrictEqual(
              isAsked ? [...new Set([first, again])] : [],
            )
          }
        },
      ),
      { numRuns: runs(30) },
    ))

  it('gets events from the track with more unread time first, then from the other track', async () => {
    const { deps, caller, ask } = await anApi({}, memoryDeps())
    const start = deps.now()
    const row = (at: number) => eventRow(deps, caller.clientId, addMs(start, at * SECOND_MS))
    const oldEvents = [await row(0), await row(1)]
    deps.clock.advance(2)
    const seenPage = await ask('listEvents')
    deps.clock.advance(400)
    const freshEvents = [await row(300), await row(301), await row(302), await row(350)]
    const ids = (...events: (Event | undefined)[]) => events.map((event) => event?.eventId)
    const next = (answer: ApiResponse, limit: string) =>
      ask('listEvents', { query: { ...nextOf(answer), limit } })

    const fresh = await next(seenPage, '3')
    const settled = await next(fresh, '1')
    const both = await next(seenPage, '5')
    const last = await next(both, '5')

    // The reader has seen nothing of the last 401 seconds. Of settled events 102 seconds are left.
    expect(idsIn(fresh)).toStrictEqual(ids(...freshEvents.slice(0, 3)))
    // Then 100 seconds are left of which it has seen nothing.
    expect(idsIn(settled)).toStrictEqual(ids(oldEvents[0]))
    expect(idsIn(both)).toStrictEqual(ids(oldEvents[0], ...freshEvents))
    expect([idsIn(last), last.body['has_more']]).toStrictEqual([ids(oldEvents[1]), false])
  })
})
