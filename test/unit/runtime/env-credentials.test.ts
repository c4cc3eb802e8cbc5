import { afterEach, describe, expect, it, vi } from 'vitest'
import { defaultProvider } from '../../../shared/runtime/env-credentials.ts'

const environment = (values: Readonly<Record<string, string | undefined>>) => {
  for (const [name, value] of Object.entries(values)) vi.stubEnv(name, value)
}

afterEach(() => {
  vi.unstubAllEnvs()
})

describe('credentials of a bundled function', () => {
  it('are those of its role, with the session token without which AWS refuses them', async () => {
    environment({ AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret', AWS_SESSION_TOKEN: 'token' })

    const credentials = await defaultProvider()()

    expect(credentials).toStrictEqual({ accessKeyId: 'id', secretAccessKey: 'secret', sessionToken: 'token' })
  })

  it('need no session token, as with DynamoDB Local', async () => {
    environment({ AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret', AWS_SESSION_TOKEN: undefined })

    const credentials = await defaultProvider()()

    expect(credentials).toStrictEqual({ accessKeyId: 'id', secretAccessKey: 'secret' })
  })

  it.each(['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])('are refused without %s, quoting none', async (missing) => {
    environment({ AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret', [missing]: undefined })

    await expect(defaultProvider()()).rejects.toThrow(/^the environment carries no AWS credentials$/)
  })
})
