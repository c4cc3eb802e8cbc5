/** Goal: a merchant's key cannot make a stranger's phone ring for ever. */
import { describe, expect } from 'vitest'
import { paymentIdForKey } from '../../../shared/ids.ts'
import { createPayment } from '../../../shared/payment/create/create-payment.ts'
import { findStoredPayment } from '../../../shared/payment/payment-store.ts'
import { pushesKey } from '../../../shared/table/keys.ts'
import { addMs, DAY_MS, HOUR_MS } from '../../../shared/time.ts'
import { aRequest, aStoredClient, OVO_REQUEST } from '../../support/payment-builders.ts'
import { alter } from '../../support/tampering.ts'
import { testDeps } from '../../support/test-deps.ts'
import { testWith } from '../../support/test-with.ts'

const PHONE = '+6281234567890'

async function aPushingClient() {
  const plain = testDeps()
  const deps = { ...plain, stage: { ...plain.stage, pushLimit: { pushes: 3, minutes: 10 } } }
  const client = await aStoredClient(deps)
  const push = (idempotencyKey: string, fields = OVO_REQUEST, caller = client) =>
    createPayment(deps, {
      client: caller,
      idempotencyKey,
      parsed: { ok: true, request: aRequest(fields) },
    })
  const counter = pushesKey(client.clientId, PHONE)
  return { deps, client, push, counter, calls: () => deps.provider.countOf('createRequest') }
}

function refusedFor(retryAfterSeconds: number) {
  return { code: 'rate_limit', details: { retryAfterSeconds } }
}

const LIMITED = { code: 'rate_limit' }

function refusedOf(results: readonly PromiseSettledResult<unknown>[]) {
  return results.filter(({ status }) => status === 'rejected')
}

const CREATED = { outcome: 'created' }

const it = testWith(aPushingClient, 'deps', 'client', 'push', 'counter', 'calls')

describe('pushes to one phone', () => {
  it.for([
    ['one after the other', false],
    ['at once', true],
  ] as const)(
    'of 25 pushes %s, three are sent, and the others are refused with 429',
    async ([, atOnce], { push, calls }) => {
      const keys = Array.from({ length: 25 }, (_, at) => `key-${at}`)
      const results = []
      for (const some of atOnce ? [keys] : keys.map((key) => [key]))
        results.push(...(await Promise.allSettled(some.map((key) => push(key)))))

      expect(calls()).toBe(3)
      expect(refusedOf(results)).toMatchObject(keys.slice(3).map(() => ({ reason: LIMITED })))
    },
  )

  it('a refusal writes nothing, and says when the next push may be sent', async ({
    deps,
    client,
    push,
  }) => {
    for (const key of ['a', 'b', 'c']) {
      await push(key)
      deps.clock.advance(60)
    }

    await expect(push('d')).rejects.toMatchObject(refusedFor(7 * 60))

    const claim = await findStoredPayment(deps, paymentIdForKey(client.clientId, 'd'))
    expect(claim).toBeUndefined()
    deps.clock.advance(7 * 60 - 1)
    await expect(push('d')).rejects.toMatchObject(refusedFor(1))
    deps.clock.advance(1)
    await expect(push('d')).resolves.toMatchObject(CREATED)
    await expect(push('e')).rejects.toMatchObject(refusedFor(60))
  })

  it('other phones, other clients, other channels and replays are not counted', async ({
    deps,
    push,
    counter,
  }) => {
    for (const key of ['a', 'a', 'b', 'b', 'c', 'a']) await push(key)

    await expect(push('d')).rejects.toMatchObject(LIMITED)
    const other = { ...OVO_REQUEST, customer: { phone: '+6281234567891' } }
    const pushed = [
      await push('other phone', other),
      await push('other channel', { ...OVO_REQUEST, channelCode: 'DANA' }),
      await push('other client', OVO_REQUEST, await aStoredClient(deps)),
    ]
    expect(pushed).toMatchObject([CREATED, CREATED, CREATED])
    expect(await deps.table.get(counter)).toMatchObject({ number: 3 })
  })

  it('counts the second push of a key, and refuses it before the attempt begins', async ({
    deps,
    push,
    calls,
  }) => {
    deps.provider.answer('createRequest', { kind: 'refused', code: 'ANY' })
    for (let sent = 0; sent < 3; sent++)
      await expect(push('a')).rejects.toMatchObject({ code: 'internal_error' })

    await expect(push('a')).rejects.toMatchObject(LIMITED)

    expect(calls()).toBe(3)
  })

  it('counts a push whose key was refused before for a request of another channel', async ({
    deps,
    push,
    calls,
  }) => {
    const keys = ['a', 'b', 'c', 'd', 'e']
    deps.provider.answer('createRequest', { kind: 'refused', code: 'ANY' })
    for (const key of keys) await push(key, {}).catch(() => undefined)
    deps.provider.heal('createRequest')

    const results = await Promise.allSettled(keys.map((key) => push(key)))

    expect(refusedOf(results)).toMatchObject([{ reason: LIMITED }, { reason: LIMITED }])
    expect(calls()).toBe(keys.length + 3)
  })

  it('two callers of one key count one push', async ({ deps, counter, push }) => {
    await Promise.all([push('a'), push('a')])

    expect(await deps.table.get(counter)).toMatchObject({ number: 1 })
  })

  it.for([
    ['that the table has not deleted yet', 2 * DAY_MS],
    ['of a clock that was hours ahead', -2 * HOUR_MS],
  ] as const)('a counter %s counts as absent', async ([, laterMs], { deps, counter, push }) => {
    for (const key of ['a', 'b', 'c']) await push(key)
    deps.clock.set(addMs(deps.now(), laterMs))

    await expect(push('d')).resolves.toMatchObject(CREATED)

    const { sent } = (await deps.table.get(counter)) ?? {}
    expect(sent).toHaveLength(1)
  })

  it.for([{ number: 'x' }, { sent: 'x' }])(
    'a counter that cannot be read is written anew, and then counts: %j',
    async (altered, { deps, counter, push }) => {
      await push('a')
      await alter(deps, counter, { ...altered })

      for (const key of ['b', 'c', 'd']) await push(key)

      await expect(push('e')).rejects.toMatchObject(LIMITED)
    },
  )

  it('a stage without the setting has no limit', async ({ deps, client, calls }) => {
    for (let at = 0; at < 10; at++)
      await createPayment(
        { ...deps, stage: { ...deps.stage, pushLimit: undefined } },
        { client, idempotencyKey: `k${at}`, parsed: { ok: true, request: aRequest(OVO_REQUEST) } },
      )

    expect(calls()).toBe(10)
  })
})
