import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { openSecrets } from '../../../infra/local/backends.ts'
import type { DataDirectory } from '../../../infra/local/process/data-directory.ts'
import { readCallbackTokens } from '../../../shared/provider/callback-secret.ts'
import { readProviderKey } from '../../../shared/provider/provider-secret.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

describe('the local secrets', () => {
  it('have the API key and the callback tokens apart, in a directory of an older release too', async () => {
    const kept = { secrets: join(tempDirectory(), 'secrets.json') } as DataDirectory
    const older = { secret_key: 'xnd_development_local', callback_tokens: ['local-callback-token'] }
    writeFileSync(kept.secrets, JSON.stringify({ 'gateway/local/provider': JSON.stringify(older) }))

    for (const data of [undefined, kept]) {
      const secrets = await openSecrets(data)

      expect(await readProviderKey(secrets, 'local')).toBe('xnd_development_local')
      expect(await readCallbackTokens(secrets, 'local')).toStrictEqual(['local-callback-token'])
    }
  })
})
