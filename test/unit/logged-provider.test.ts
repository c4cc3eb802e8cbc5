import { describe, expect, it } from 'vitest'
import type { LogFields } from '../../shared/log.ts'
import { loggedProvider } from '../../shared/provider/logged-provider.ts'
import { type CreateAnswer, PROVIDER_CREATE_TIMEOUT_MS } from '../../shared/provider/provider.ts'
import { memoryDeps } from '../support/memory-table.ts'
import { aCreateInput } from '../support/xendit-provider.ts'

type Line = { readonly code: string; readonly fields: LogFields | undefined }

const linesOfCreate = async (answer: CreateAnswer): Promise<readonly Line[]> => {
  const lines: Line[] = []
  const note = (code: string, fields?: LogFields) => void lines.push({ code, fields })
  const deps = memoryDeps({ log: { info: note, warn: note, error: note } })
  deps.provider.script('createRequest', async () => answer)
  await loggedProvider(deps.provider, deps).createRequest(aCreateInput(), PROVIDER_CREATE_TIMEOUT_MS)
  return lines
}

describe('the log line of a call of the provider', () => {
  it.each<[string, CreateAnswer, 0 | 1]>([
    ['a refusal of the one payment', { kind: 'refused', code: 'INVALID_VALUE_ERROR' }, 0],
    ['a refusal of our account', { kind: 'refused', code: 'INVALID_API_KEY', ofAccount: true }, 1],
    ['a call that was not carried out', { kind: 'not_executed', reason: 'RATE_LIMIT_EXCEEDED' }, 1],
    ['a call without an answer', { kind: 'unknown', reason: 'timeout' }, 1],
  ])('says whether the provider is in trouble: %s', async (_, answer, trouble) => {
    expect(await linesOfCreate(answer)).toMatchObject([
      { code: 'provider.call_failed', fields: { operation: 'create_request', result: answer.kind, trouble } },
    ])
  })
})
