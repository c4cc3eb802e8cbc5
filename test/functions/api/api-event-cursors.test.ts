import { describe, expect, it } from 'vitest'
import { addMs } from '../../../shared/time.ts'
import { API, anApi, anApiClient, call } from '../../support/api-event.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { cursorOf, eventRow, idsIn, nextOf, page } from './event-feed.ts'

describe('what GET /v1/events refuses', () => {
  const right = {
    event_id: '7b0e8a39-0f5d-4c6b-9a55-2a4f43c0d1aa',
    payment_id: '2f1d3c1c-5b7e-4f6f-8f37-1f0a6f8b9c2d',
    type: 'payment.succeeded',
    fired_at: '2026-11-20T04:00:00.000Z',
  }
  const AFTER = 'after must be the `next` of an earlier answer'

  it.each([
    ...[' ', 'x', 'null', '[]', '{}', '0', '💥', 'a'.repeat(5_000)].map((after) => ({ after })),
    ...[null, [], {}, 7, 'text', { ...right, client_id: 'x' }, { ...right, fired_at: '9999-99-99T99:99:99.999Z' }]
      .concat({ ...right, fired_at: 'now' }, { ...right, type: 'payment.paid' }, { ...right, payment_id: '../x' })
      .concat({ since: '2026-11-20' }, { since: '9999-99-99T99:99:99.999Z' }, { ...right, since: right.fired_at })
      .map((position) => ({ after: cursorOf(position) })),
  ])('the cursor of %j', async (query) => {
    const { ask } = await anApi({}, memoryDeps())

    const { status, body } = await ask('listEvents', { query })

    expect([status, body]).toStrictEqual([
      422,
      { message: AFTER, code: 'validation', field_errors: { after: [AFTER] } },
    ])
  })

  it.each([
    [{ since: 'yesterday' }, 'since: must be an RFC 3339 time'],
    [{ since: '2026-11-20' }, 'since: must be an RFC 3339 time'],
    [{ since: '2026-13-01T00:00:00Z' }, 'since: must be an RFC 3339 time'],
    [{ since: '2026-11-20T04:00:00 07:00' }, 'since: must be an RFC 3339 time'],
    [{ limit: '1.5' }, 'limit must be an integer'],
    [{ limit: 'all' }, 'limit must be an integer'],
  ])('%j', async (query, message) => {
    const { ask } = await anApi({}, memoryDeps())

    const { status, body } = await ask('listEvents', { query })

    expect([status, body]).toMatchObject([422, { message, code: 'validation' }])
  })
})

describe('whose events GET /v1/events shows', () => {
  it('are those of the key: a cursor of another client is a position among one’s own, and says nothing of theirs', async () => {
    const { deps, caller, ask } = await anApi()
    const other = await anApiClient(deps)
    const start = deps.now()
    const theirs = [await eventRow(deps, other.clientId, start), await eventRow(deps, other.clientId, addMs(start, 2))]
    const mine = await eventRow(deps, caller.clientId, addMs(start, 1))
    deps.clock.advance(600)
    const given = await call(deps, API.listEvents, { caller: other, query: { limit: '1' } })
    expect(idsIn(given)).toStrictEqual([theirs[0]?.eventId])

    const answers = [
      await ask('listEvents', { query: nextOf(given) }),
      await ask('listEvents', { query: { after: cursorOf({ since: addMs(start, 1) }) } }),
      await ask('listEvents', { query: { since: start } }),
    ]

    for (const answer of answers) expect(answer.text).toBe(page([mine], answer))
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  })
})
