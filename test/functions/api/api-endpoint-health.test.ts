import { describe, expect } from 'vitest'
import { addMs } from '../../../shared/time.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import { redeliverOwn } from '../../../shared/webhook/delivery/redeliver.ts'
import { API, anApi, call } from '../../support/api-event.ts'
import { recordTable, type TestDeps, testDeps } from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'
import {
  ABANDONED,
  deliver,
  FAILED,
  storedDelivery,
  storedEndpoint,
} from '../../support/webhook-builders.ts'

const it = testWith(
  async () => {
    const { deps, caller } = await anApi({}, testDeps())
    const endpoint = await storedEndpoint(deps, { clientId: caller.clientId })
    const health = async (own = deps) => {
      const { body } = await call(own, API.listWebhookEndpoints, { caller })
      const [{ last_answered_at: at, waiting }] = Object(body['data'])
      return [at, waiting]
    }
    return { deps, endpoint, health }
  },
  'deps',
  'endpoint',
  'health',
)

async function attempt(
  deps: TestDeps,
  delivery: Delivery,
  result: typeof FAILED = { httpStatus: 200, responseBody: 'ok', durationMs: 12 },
) {
  deps.answerWebhooks(async () => result)
  await deliver(deps, delivery)
}

describe('the health of an endpoint in GET /v1/webhook_endpoints', () => {
  it('has the time of the last 2xx, also when a new round fails', async ({
    deps,
    endpoint,
    health,
  }) => {
    const delivery = await storedDelivery(deps, endpoint)
    await attempt(deps, delivery)
    const answeredAt = deps.now()
    deps.clock.advance(60)
    await storedDelivery(deps, endpoint, ABANDONED)
    await redeliverOwn(deps, endpoint.clientId, delivery.deliveryId)
    await attempt(deps, { ...delivery, attempts: 1 }, FAILED)

    expect(await health()).toStrictEqual([answeredAt, 1])
  })

  it('counts a delivery that waits after a failure, until a later attempt is answered', async ({
    deps,
    endpoint,
    health,
  }) => {
    const delivery = await storedDelivery(deps, endpoint)
    await attempt(deps, delivery, FAILED)
    expect(await health()).toStrictEqual([null, 1])
    deps.clock.advance(1)
    await attempt(deps, await storedDelivery(deps, endpoint))
    deps.clock.advance(60)

    // A retry, which is later than a newer delivery.
    await attempt(deps, { ...delivery, attempts: 1 })

    expect(await health()).toStrictEqual([deps.now(), 0])
    await redeliverOwn(deps, endpoint.clientId, delivery.deliveryId)
    expect(await health()).toStrictEqual([deps.now(), 1])
  })

  it('does not count a delivery in its first minute', async ({ deps, endpoint, health }) => {
    await storedDelivery(deps, endpoint)

    expect(await health()).toStrictEqual([null, 0])
  })

  it('counts to 100, and reads the newest ten deliveries', async ({ deps, endpoint, health }) => {
    await attempt(deps, await storedDelivery(deps, endpoint))
    for (let number = 1; number <= 101; number++) {
      const createdAt = addMs(deps.now(), number)
      await storedDelivery(deps, endpoint, { attempts: 1, unlisted: undefined as never, createdAt })
    }
    const { deps: recorded, calls } = recordTable(deps)

    expect(await health(recorded)).toStrictEqual([null, 100])
    const read = calls.flatMap((made) => (made.name === 'batchGet' ? made.keys : []))
    expect(read.filter(({ pk }) => pk.startsWith('DELIVERY#'))).toHaveLength(10)
  })
})
