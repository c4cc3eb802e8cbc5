import { describe, expect, it } from 'vitest'
import type { FunctionSpec } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { AccessDenied, grantedDeps } from '../../../infra/local/functions/granted-deps.ts'
import { callbackSecretName, endpointSecretName, providerSecretName } from '../../../shared/secrets.ts'
import { testDeps } from '../../support/test-deps.ts'

const first = MANIFEST[0]
if (!first) throw new Error('the manifest is empty')

const granted = (changes: Partial<FunctionSpec>) => {
  const all = testDeps()
  const none = { ...first, table: {}, sends: [], alerts: false, secrets: [] }
  return { ...grantedDeps('local', { ...none, ...changes }, all), all }
}

describe('the access a manifest entry states', () => {
  it('refuses messages to a queue that is not stated', async () => {
    const message = { body: {}, delaySeconds: 0, group: 'g' }
    const { queues, all } = granted({ sends: ['webhooks'] })

    await queues.send('webhooks', message)

    await expect(queues.send('settlements', message)).rejects.toThrow(AccessDenied)
    expect(all.sent).toStrictEqual([{ queue: 'webhooks', message }])
  })

  it('refuses alerts of a function without them', async () => {
    const alert = { kind: 'delivery.abandoned', subject: 's', message: 'm' } as const

    await expect(granted({}).alerts.publish(alert)).rejects.toThrow(AccessDenied)
    const { alerts, all } = granted({ alerts: true })
    await alerts.publish(alert)

    expect(all.published).toStrictEqual([alert])
  })

  it('lets who registers endpoints create secrets and not delete or read them, and who deletes them the reverse', async () => {
    const endpoint = endpointSecretName('local', 'e-1')
    const { secrets: registering, all } = granted({ secrets: ['create-endpoints'] })
    const { secrets: deleting, all: others } = granted({ secrets: ['delete-endpoints'] })
    others.secretValues.set(endpoint, 'secret')

    await registering.create(endpoint, 'secret')
    await expect(deleting.create(endpoint, 'x')).rejects.toThrow('create-endpoints')
    await expect(registering.remove(endpoint)).rejects.toThrow('delete-endpoints')
    await deleting.remove(endpoint)

    expect(all.secretValues.get(endpoint)).toBe('secret')
    expect(others.secretValues.size).toBe(0)
    for (const secrets of [registering, deleting]) await expect(secrets.get(endpoint)).rejects.toThrow('read-endpoints')
  })

  it('lets nobody read callback tokens with the access to the provider’s key, nor replace them with that to read them', async () => {
    const tokens = callbackSecretName('local')
    const { secrets: asking } = granted({ secrets: ['read-provider'] })
    const { secrets: receiving } = granted({ secrets: ['read-callback-tokens'] })
    const { secrets: copying, all } = granted({ secrets: ['write-callback-tokens'] })
    all.secretValues.set(tokens, 'old')

    await expect(asking.get(tokens)).rejects.toThrow('read-callback-tokens')
    expect(await receiving.get(tokens)).toBeUndefined()
    await expect(receiving.replace(tokens, 'x')).rejects.toThrow('write-callback-tokens')
    await expect(copying.get(tokens)).rejects.toThrow('read-callback-tokens')
    await expect(copying.replace(providerSecretName('local'), 'x')).rejects.toThrow('another secret')
    await copying.replace(tokens, 'new')

    expect(all.secretValues.get(tokens)).toBe('new')
  })

  it('tells the provider’s secret from those of endpoints, and from all others', async () => {
    const { secrets } = granted({ secrets: ['read-endpoints', 'create-endpoints', 'delete-endpoints'] })
    const others = [providerSecretName('local'), endpointSecretName('prod', 'e-1'), 'gateway/local/origin']

    expect(await secrets.get(endpointSecretName('local', 'e-1'))).toBeUndefined()
    await expect(secrets.get(providerSecretName('local'))).rejects.toThrow('read-provider')
    for (const name of others) {
      await expect(secrets.get(name)).rejects.toThrow(AccessDenied)
      await expect(secrets.create(name, 'x')).rejects.toThrow('another secret')
      await expect(secrets.remove(name)).rejects.toThrow('another secret')
    }
  })
})
