import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Event } from '../../../shared/event/event.ts'
import { addMs, MINUTE_MS, msBetween, SECOND_MS, type Timestamp } from '../../../shared/time.ts'
import { anApi } from '../../support/api-event.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { runs } from '../../support/runs.ts'
import { eventRow, idsIn, inOrder, nextOf } from './stored-events.ts'

const HOLD_BACK_MS = 5 * MINUTE_MS
const POLL_SECONDS = 10

/** The first poll at or after a time. */
const pollFrom = (firstPoll: Timestamp, time: Timestamp): Timestamp => {
  const pollMs = POLL_SECONDS * SECOND_MS
  return addMs(firstPoll, Math.max(0, Math.ceil(msBetween(firstPoll, time) / pollMs)) * pollMs)
}

type Query = Readonly<Record<string, string>>
type Ask = Awaited<ReturnType<typeof anApi>>['ask']

/** One poll: the ids of each page until no more are listed, and the query of the next poll. */
const poll = async (ask: Ask, limit: number, query: Query = {}) => {
  const pages: string[][] = []
  for (let more = true; more; ) {
    const answer = await ask('listEvents', { query: { ...query, limit: String(limit) } })
    pages.push(idsIn(answer))
    query = nextOf(answer)
    more = answer.body['has_more'] === true
  }
  return { pages, query }
}

describe('a reader who follows `next` of GET /v1/events (design section 8)', () => {
  it('shows every event at the first poll after it, and again when it is settled, for any limit', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer({ min: 0, max: 600 }), { maxLength: 25 }),
        fc.integer({ min: 1, max: 12 }),
        fc.integer({ min: 0, max: 600 }),
        fc.option(fc.integer({ min: 0, max: 700 }), { nil: undefined }),
        async (seconds, limit, firstPoll, sinceSecond) => {
          const { deps, caller, ask } = await anApi({}, memoryDeps())
          const start = deps.now()
          const moment = (second: number) => addMs(start, second * SECOND_MS)
          const since = sinceSecond === undefined ? undefined : moment(sinceSecond)
          const waiting = seconds.toSorted((a, b) => a - b)
          const events: Event[] = []
          const shown = new Map<string, Timestamp[]>()
          let query: Query = since === undefined ? {} : { since }
          for (let second = firstPoll; second <= 1_300; second += POLL_SECONDS) {
            for (; (waiting[0] ?? Number.POSITIVE_INFINITY) <= second; waiting.shift()) {
              events.push(await eventRow(deps, caller.clientId, moment(waiting[0] ?? 0)))
            }
            deps.clock.set(moment(second))
            const polled = await poll(ask, limit, query)
            query = polled.query
            for (const [at, ids] of polled.pages.entries()) {
              expect(ids).toStrictEqual(inOrder(events).flatMap(({ eventId }) => ids.filter((id) => id === eventId)))
              for (const id of ids) shown.set(id, [...(shown.get(id) ?? []), deps.now()])
              expect(ids.length).toBeLessThanOrEqual(limit)
              if (at < polled.pages.length - 1) expect(ids).not.toHaveLength(0)
            }
          }
          for (const { eventId, firedAt } of events) {
            const first = pollFrom(moment(firstPoll), firedAt)
            const again = pollFrom(moment(firstPoll), addMs(firedAt, HOLD_BACK_MS))
            const isAsked = since === undefined || firedAt >= since
            expect(shown.get(eventId) ?? []).toStrictEqual(isAsked ? [...new Set([first, again])] : [])
          }
        },
      ),
      { numRuns: runs(30) },
    ))

  it('shows all new events to one poll with small pages', async () => {
    const { deps, caller, ask } = await anApi({}, memoryDeps())
    const events: Event[] = []
    for (let at = 0; at < 13; at++) events.push(await eventRow(deps, caller.clientId, addMs(deps.now(), at)))
    deps.clock.advance(1)

    const { pages } = await poll(ask, 5)

    const ids = inOrder(events).map(({ eventId }) => eventId)
    expect(pages).toStrictEqual([ids.slice(0, 5), ids.slice(5, 10), ids.slice(10)])
  })

  it('serves the track with more left to read first, and fills the page from the other one', async () => {
    const { deps, caller, ask } = await anApi({}, memoryDeps())
    const start = deps.now()
    const row = (second: number) => eventRow(deps, caller.clientId, addMs(start, second * SECOND_MS))
    const old = [await row(0), await row(1)]
    deps.clock.advance(2)
    const seen = await ask('listEvents')
    deps.clock.advance(400)
    const fresh = [await row(300), await row(301), await row(302)]

    const one = await ask('listEvents', { query: { ...nextOf(seen), limit: '1' } })
    const four = await ask('listEvents', { query: { ...nextOf(seen), limit: '4' } })
    const rest = await ask('listEvents', { query: { ...nextOf(four), limit: '4' } })

    const id = (event?: Event) => event?.eventId
    // The reader has seen nothing of the last 401 seconds. Only 102 seconds of settled events are left to read.
    expect(idsIn(one)).toStrictEqual([id(fresh[0])])
    expect(idsIn(four)).toStrictEqual([old[0], ...fresh].map(id))
    expect([idsIn(rest), rest.body['has_more']]).toStrictEqual([[id(old[1])], false])
  })
})
