import { describe, expect, it } from 'vitest'
import type { FunctionSpec } from '../../functions/function-spec.ts'
import { MANIFEST } from '../../functions/manifest.ts'
import { AccessDenied, grantedDeps } from '../../infra/local/granted-deps.ts'
import { endpointSecretName, providerSecretName } from '../../shared/secrets.ts'
import { testDeps } from '../support/test-deps.ts'

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

  it('tells the provider’s secret from those of endpoints, and reading from managing', async () => {
    const provider = providerSecretName('local')
    const endpoint = endpointSecretName('local', 'e-1')
    const reader = granted({ secrets: ['read-endpoints'] })
    const manager = granted({ secrets: ['manage-endpoints'] })

    await manager.secrets.create(endpoint, 'secret')

    await expect(manager.secrets.get(endpoint)).rejects.toThrow('read-endpoints')
    await expect(reader.secrets.get(provider)).rejects.toThrow('read-provider')
    await expect(reader.secrets.create(endpoint, 'x')).rejects.toThrow('manage-endpoints')
    await expect(reader.secrets.remove(endpoint)).rejects.toThrow('manage-endpoints')
    expect(manager.all.secretValues.get(endpoint)).toBe('secret')
    expect(await reader.secrets.get(endpoint)).toBeUndefined()
  })
})
