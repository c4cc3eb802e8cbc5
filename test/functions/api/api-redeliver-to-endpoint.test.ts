import { describe, expect, it } from 'vitest'
import { API, anApi, call } from '../../support/api-event.ts'
import { auditRecordsOf } from '../../support/operator-actions.ts'
import { ABANDONED, ENDED, rowOf, storedDelivery, storedEndpoint, storedEvent } from '../../support/webhook-builders.ts'

/** A merchant after an outage of one endpoint. */
const afterOutage = async () => {
  const { deps, caller, ask } = await anApi()
  const since = deps.now()
  const endpoint = await storedEndpoint(deps, { clientId: caller.clientId })
  const missed = async (delivery: Parameters<typeof storedDelivery>[2] = ABANDONED) => {
    deps.clock.advance(1)
    const event = await storedEvent(deps, { clientId: caller.clientId })
    return storedDelivery(deps, endpoint, delivery, event)
  }
  const again = (body: object) => ask('redeliverToEndpoint', { id: endpoint.endpointId, body })
  return { deps, caller, endpoint, since, missed, again }
}

/* What is sent, and what is not: redeliver-endpoint.test.ts. */

describe('POST /v1/webhook_endpoints/{id}/redeliver (design section 8)', () => {
  it('continues until nothing is left: 230 deliveries in three calls', async () => {
    const { deps, since, missed, again } = await afterOutage()
    const deliveries = [await missed({ ...ABANDONED, rounds: 10, roundsOn: deps.now().slice(0, 10) })]
    for (let made = 0; made < 230; made++) deliveries.push(await missed())

    const answers: unknown[] = []
    for (let cursor: unknown = null, calls = 0; calls === 0 || (cursor !== null && calls < 5); calls++) {
      const { status, body } = await again({ since, cursor })
      answers.push([status, body])
      cursor = body['next']
    }

    const next = expect.any(String) as unknown
    expect(answers).toStrictEqual([
      [200, { count: 99, passed_over: 1, next }],
      [200, { count: 100, next }],
      [200, { count: 31, next: null }],
    ])
    const stored = await Promise.all(deliveries.map((delivery) => rowOf(deps, delivery)))
    expect(stored.map(({ status }) => status)).toStrictEqual(['abandoned', ...Array(230).fill('scheduled')])
    expect(deps.sent).toHaveLength(230)
    // A merchant's script fills no table.
    expect(await auditRecordsOf(deps, deliveries[1]?.deliveryId ?? '')).toStrictEqual([])
  })

  it('sends only those of a status when asked', async () => {
    const { since, missed, again } = await afterOutage()
    await missed()
    await missed({ ...ENDED, status: 'succeeded', attempts: 1 })

    expect((await again({ since, status: 'succeeded', cursor: null })).body).toStrictEqual({ count: 1, next: null })
  })

  const AT = '2026-11-20T00:00:00Z'
  const INVALID = 'invalid JSON body:'
  it.each([
    [undefined, `${INVALID} the body is empty`],
    ['{', `${INVALID} not well-formed JSON`],
    ['[]', `${INVALID} expected an object`],
    [{}, `${INVALID} since: required`],
    [{ since: 'yesterday' }, `${INVALID} since: must be an RFC 3339 time`],
    [{ since: AT, status: 'scheduled' }, `${INVALID} status: must be one of succeeded, abandoned, skipped`],
    [{ since: AT, colour: 'red' }, `${INVALID} body: unknown field`],
    [{ since: AT, cursor: 'x' }, 'cursor: must be the `next` of an earlier answer to the same since'],
  ])('refuses %j', async (body, message) => {
    const { deps, endpoint, caller } = await afterOutage()
    const { status, body: answer } = await call(deps, API.redeliverToEndpoint, {
      caller,
      id: endpoint.endpointId,
      body,
    })

    expect([status, answer['message']]).toStrictEqual([422, message])
  })

  it('refuses a disabled endpoint', async () => {
    const { deps, caller, ask } = await anApi()
    const { endpointId: id } = await storedEndpoint(deps, { clientId: caller.clientId, enabled: false })

    const answer = await ask('redeliverToEndpoint', { id, body: { since: deps.now() } })

    expect(answer).toMatchObject({ status: 422, body: { message: 'the endpoint is disabled' } })
  })
})
