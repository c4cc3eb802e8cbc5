import { describe, expect } from 'vitest'
import { exists } from '../../../shared/table/condition.ts'
import { endpointKey } from '../../../shared/table/keys.ts'
import { update } from '../../../shared/table/step.ts'
import { listAttempts } from '../../../shared/webhook/delivery/attempt-store.ts'
import type { Delivery } from '../../../shared/webhook/delivery/delivery.ts'
import { claimAttempt } from '../../../shared/webhook/delivery/delivery-store.ts'
import type { Endpoint } from '../../../shared/webhook/endpoint/endpoint.ts'
import { changeEndpoint, moveToGone } from '../../../shared/webhook/endpoint/endpoint-store.ts'
import { deliverWebhook } from '../../../shared/webhook/send/deliver-webhook.ts'
import { beforeFirst } from '../../support/intercept-table.ts'
import { testDeps } from '../../support/test-deps.ts'
import {
  codes,
  drainQueue,
  dueAtOf,
  dueDelivery,
  FAILED,
  messageFor,
  rowOf,
  storedEndpoint,
} from '../../support/webhook-builders.ts'
import { webhookTest as it } from './webhook-test.ts'

describe('deliver-webhook: messages that come twice, late or for nothing', () => {
  it('makes one POST for twenty workers with the same message', async ({ deps, delivery }) => {
    const merchant = Promise.withResolvers<void>()
    deps.answerWebhooks(async () => {
      await merchant.promise
      return FAILED
    })

    const workers = Array.from({ length: 20 }, () => deliverWebhook(deps, messageFor(delivery)))
    await Promise.race(workers)
    merchant.resolve()
    await Promise.all(workers)

    expect(deps.webhooks).toHaveLength(1)
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'scheduled', attempts: 1 })
    // One says when to try again; the others came too late, or look again when the claim would have ended.
    const dropped = codes(deps).filter((code) => code === 'delivery.dropped')
    expect(dropped.length + deps.sent.length).toBe(20)
  })

  it.each([
    ['finished deliveries', { status: 'succeeded', nextAttemptAt: undefined, dueAt: undefined }, 1, 'finished'],
    ['attempts that were made', { attempts: 2 }, 2, 'attempt_made'],
  ] as const)('drops messages about %s', async (_case, overrides, attempt, reason) => {
    const { deps, delivery } = await dueDelivery(overrides)

    await deliverWebhook(deps, { ...messageFor(delivery), attempt })

    expect(deps.webhooks).toStrictEqual([])
    expect(deps.sent).toStrictEqual([])
    expect(deps.lines).toMatchObject([{ code: 'delivery.dropped', fields: { reason } }])
  })

  it('drops messages about deliveries that do not exist', async ({ deps, delivery }) => {
    await deliverWebhook(deps, { ...messageFor(delivery), deliveryId: crypto.randomUUID() as Delivery['deliveryId'] })

    expect(deps.lines).toMatchObject([{ code: 'delivery.dropped', fields: { reason: 'unknown_delivery' } }])
  })
})

describe('deliver-webhook: endpoints and secrets that are not there', () => {
  it.for([
    ['disabled', (endpoint: Endpoint) => ({ endpoint: changeEndpoint(endpoint, { enabled: false }) })],
    ['deleted', (endpoint: Endpoint) => moveToGone(endpoint, endpoint.createdAt)],
  ] as const)(
    'skips the rest when the endpoint is %s between two attempts',
    async ([, change], { deps, endpoint, delivery }) => {
      deps.answerWebhooks(async () => FAILED)
      await deliverWebhook(deps, messageFor(delivery))
      await deps.table.transact<string>(change(endpoint))

      await drainQueue(deps)

      expect(deps.webhooks).toHaveLength(1)
      expect(await rowOf(deps, delivery)).toMatchObject({ status: 'skipped', attempts: 1 })
      expect(await dueAtOf(deps, 'delivery', delivery.deliveryId)).toBeUndefined()
      expect(deps.published).toStrictEqual([])
      expect(codes(deps).at(-1)).toBe('delivery.skipped')
    },
  )

  it('skips a delivery whose endpoint is of another client', async () => {
    const { deps, delivery } = await dueDelivery({ clientId: crypto.randomUUID() as Delivery['clientId'] })

    await deliverWebhook(deps, messageFor(delivery))

    expect(deps.webhooks).toStrictEqual([])
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'skipped' })
  })

  it('does not skip what another worker claims meanwhile', async () => {
    const now = testDeps().now()
    const { deps, delivery } = await dueDelivery(
      { status: 'scheduled', nextAttemptAt: now, dueAt: now },
      { enabled: false },
    )
    const racing = beforeFirst(deps, 'update', () =>
      claimAttempt(deps, delivery, { token: 'theirs', until: deps.now() }),
    )

    await deliverWebhook(racing, messageFor(delivery))

    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'scheduled', claimToken: 'theirs' })
    expect(deps.lines).toMatchObject([{ code: 'delivery.dropped', fields: { reason: 'claimed' } }])
  })

  it('counts an attempt without a POST when the secret is gone', async ({ deps, endpoint, delivery }) => {
    await deps.table.write(
      update(endpointKey(endpoint.clientId, endpoint.endpointId), { remove: ['sealedSecret'] }, exists),
    )

    await deliverWebhook(deps, messageFor(delivery))

    expect(deps.webhooks).toStrictEqual([])
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'scheduled', attempts: 1 })
    expect(await listAttempts(deps, delivery.deliveryId)).toStrictEqual([
      { number: 1, at: deps.now(), durationMs: 0, error: 'secret_missing' },
    ])
    expect(deps.sent).toHaveLength(1)
  })

  it('counts an attempt without a POST when the secret was sealed for another endpoint', async ({ deps, delivery }) => {
    const another = await storedEndpoint(deps)
    const sealedSecret = await deps.sealer.seal('a secret', another)
    const key = endpointKey(delivery.clientId, delivery.endpointId)
    await deps.table.write(update(key, { set: { sealedSecret } }, exists))

    await deliverWebhook(deps, messageFor(delivery))

    expect(deps.webhooks).toStrictEqual([])
    expect(await listAttempts(deps, delivery.deliveryId)).toMatchObject([{ number: 1, error: 'secret_missing' }])
  })

  it('throws when the secret cannot be read, so that the queue tries again', async ({ deps, delivery }) => {
    const unseal = async () => Promise.reject(new Error('throttled'))
    const broken = { ...deps, sealer: { ...deps.sealer, unseal } }

    await expect(deliverWebhook(broken, messageFor(delivery))).rejects.toThrow('throttled')

    expect(await rowOf(deps, delivery)).toStrictEqual(delivery)
    expect(deps.webhooks).toStrictEqual([])
    await deliverWebhook(deps, messageFor(delivery))
    expect(await rowOf(deps, delivery)).toMatchObject({ status: 'succeeded' })
  })
})
