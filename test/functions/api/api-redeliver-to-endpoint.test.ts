import { describe, expect, it } from 'vitest'
import { deliveryIdFor } from '../../../shared/ids.ts'
import { addMs } from '../../../shared/time.ts'
import { findDelivery } from '../../../shared/webhook/delivery/delivery-store.ts'
import { API, anApi, anApiClient, call } from '../../support/api-event.ts'
import { auditRecordsOf } from '../../support/operator-actions.ts'
import type { TestDeps } from '../../support/test-deps.ts'
import { ABANDONED, ENDED, storedDelivery, storedEndpoint, storedEvent } from '../../support/webhook-builders.ts'

const rounds = ({ now }: TestDeps) => ({ rounds: 10, roundsOn: now().slice(0, 10) })

/** A merchant after an outage of one endpoint. */
const afterOutage = async () => {
  const { deps, caller, ask } = await anApi()
  const since = deps.now()
  const endpoint = await storedEndpoint(deps, { clientId: caller.clientId })
  const id = endpoint.endpointId
  const missed = async (delivery: Parameters<typeof storedDelivery>[2] = ABANDONED) => {
    deps.clock.advance(1)
    const event = await storedEvent(deps, { clientId: caller.clientId })
    return storedDelivery(deps, endpoint, delivery, event)
  }
  const again = (body: unknown = { since }) => ask('redeliverToEndpoint', { id, body })
  return { deps, caller, endpoint, since, id, missed, again }
}

describe('POST /v1/webhook_endpoints/{id}/redeliver (design section 8)', () => {
  it('goes on until nothing is left: 230 deliveries in three calls', async () => {
    const { deps, since, missed, again } = await afterOutage()
    const deliveries = []
    for (let made = 0; made < 230; made++) deliveries.push(await missed())

    const counts: unknown[] = []
    for (let cursor: unknown = null, calls = 0; calls === 0 || cursor !== null; calls++) {
      const { status, body } = await again({ since, cursor })
      expect(status).toBe(200)
      counts.push(body['count'])
      cursor = body['next']
    }

    expect(counts).toStrictEqual([100, 100, 30])
    const stored = await Promise.all(deliveries.map(({ deliveryId }) => findDelivery(deps, deliveryId)))
    expect(new Set(stored.map((delivery) => delivery?.status))).toStrictEqual(new Set(['scheduled']))
    expect(deps.sent).toHaveLength(230)
    // A merchant's script fills no table.
    expect(await auditRecordsOf(deps, deliveries[0]?.deliveryId ?? '')).toStrictEqual([])
  })

  it('sends what was never sent, leaves alone what is under way, and counts what had ten rounds today', async () => {
    const { deps, caller, endpoint, missed, again } = await afterOutage()
    await missed({ ...ENDED, status: 'succeeded', attempts: 1 })
    await missed({ attempts: 1 })
    await missed({ ...ABANDONED, ...rounds(deps) })
    const event = await storedEvent(deps, { clientId: caller.clientId })

    const { status, body } = await again()

    expect([status, body]).toStrictEqual([200, { count: 1, passed_over: 1, next: null }])
    expect(await findDelivery(deps, deliveryIdFor(event.eventId, endpoint.endpointId))).toBeDefined()
    expect((await again()).body).toStrictEqual({ count: 0, passed_over: 1, next: null })
  })

  it('sends only those of a status, since a time, when asked', async () => {
    const { since, missed, again } = await afterOutage()
    await missed()
    const succeeded = await missed({ ...ENDED, status: 'succeeded', attempts: 1 })

    expect((await again({ since: addMs(since, 1_001), status: 'abandoned' })).body['count']).toBe(0)
    expect((await again({ since, status: 'succeeded', cursor: null })).body['count']).toBe(1)
    expect(succeeded.status).toBe('succeeded')
  })

  it.each([
    [undefined, 'invalid JSON body: the body is empty'],
    ['{', 'invalid JSON body: not well-formed JSON'],
    ['[]', 'invalid JSON body: expected an object'],
    [{}, 'invalid JSON body: since: required'],
    [{ since: 'yesterday' }, 'invalid JSON body: since: must be an RFC 3339 time'],
    [
      { since: '2026-11-20T00:00:00Z', status: 'scheduled' },
      'invalid JSON body: status: must be one of succeeded, abandoned, skipped',
    ],
    [{ since: '2026-11-20T00:00:00Z', colour: 'red' }, 'invalid JSON body: body: unknown field'],
    [
      { since: '2026-11-20T00:00:00Z', cursor: 'x' },
      'cursor: must be the `next` of an earlier answer to the same since',
    ],
  ])('refuses %j', async (body, message) => {
    const { deps, id, caller } = await afterOutage()
    const answer = await call(deps, API.redeliverToEndpoint, { caller, id, ...(body !== undefined && { body }) })

    expect([answer.status, answer.body['message']]).toStrictEqual([422, message])
  })

  it('refuses a disabled endpoint, and does not know a deleted one or one of others', async () => {
    const { deps, caller, since, again } = await afterOutage()
    const other = await storedEndpoint(deps, { clientId: (await anApiClient(deps)).clientId })
    const disabled = await storedEndpoint(deps, { clientId: caller.clientId, enabled: false })
    const ask = (id: string) => call(deps, API.redeliverToEndpoint, { caller, id, body: { since } })

    expect(await ask(disabled.endpointId)).toMatchObject({ status: 422, body: { message: 'the endpoint is disabled' } })
    expect(await ask(other.endpointId)).toMatchObject({ status: 404, body: { message: 'endpoint not found' } })
    expect((await again()).status).toBe(200)
  })
})
