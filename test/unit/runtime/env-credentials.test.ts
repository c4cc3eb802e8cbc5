import { describe, expect, it, vi } from 'vitest'
import { defaultProvider } from '../../../shared/runtime/env-credentials.ts'

const credentialsOf = (changes: Readonly<Record<string, string | undefined>>) => {
  const environment = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret', AWS_SESSION_TOKEN: undefined }
  for (const [name, value] of Object.entries({ ...environment, ...changes })) vi.stubEnv(name, value)
  return defaultProvider()()
}

describe('credentials of a bundled function', () => {
  // AWS refuses those of a role without their session token; DynamoDB Local needs none.
  it.each([{ sessionToken: 'token' }, {}])('are those of the environment: %j', async (session) => {
    const credentials = await credentialsOf({ AWS_SESSION_TOKEN: session.sessionToken })

    expect(credentials).toStrictEqual({ accessKeyId: 'id', secretAccessKey: 'secret', ...session })
  })

  it.each(['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])('are refused without %s, quoting none', async (missing) => {
    const refused = credentialsOf({ [missing]: undefined })

    await expect(refused).rejects.toThrow(/^the environment has no AWS credentials$/)
  })
})
