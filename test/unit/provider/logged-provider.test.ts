import { describe, expect, it } from 'vitest'
import type { LogFields } from '../../../shared/log.ts'
import { loggedProvider } from '../../../shared/provider/logged-provider.ts'
import {
  type CreateAnswer,
  PROVIDER_CREATE_TIMEOUT_MS,
  PROVIDER_READ_TIMEOUT_MS,
  type Unanswered,
} from '../../../shared/provider/provider.ts'
import { memoryDeps } from '../../support/memory-deps.ts'
import { aCreateInput } from '../../support/xendit-provider.ts'

type Line = { readonly code: string; readonly fields: LogFields | undefined }

const notingDeps = () => {
  const lines: Line[] = []
  const note = (code: string, fields?: LogFields) => void lines.push({ code, fields })
  return { deps: memoryDeps({ log: { info: note, warn: note, error: note } }), lines }
}

const linesOfCreate = async (answer: CreateAnswer): Promise<readonly Line[]> => {
  const { deps, lines } = notingDeps()
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

  it.each<[Unanswered['reason'], string | undefined, string]>([
    ['refused', 'API_VALIDATION_ERROR', 'provider.call_refused'],
    ['misconfigured', 'INVALID_API_KEY', 'provider.call_refused'],
    ['misconfigured', undefined, 'provider.call_refused'],
    ['unreachable', undefined, 'provider.call_failed'],
    ['server_error', undefined, 'provider.call_failed'],
    ['rate_limited', undefined, 'provider.call_failed'],
  ])('calls a 4xx to a read of ours our mistake, with its code: %s %s', async (reason, code, line) => {
    const { deps, lines } = notingDeps()
    deps.provider.script('listTransactions', async () => ({ kind: 'unanswered', reason, ...(code && { code }) }))

    await loggedProvider(deps.provider, deps).listTransactions({ limit: 1 }, PROVIDER_READ_TIMEOUT_MS)

    expect(lines).toMatchObject([
      { code: line, fields: { operation: 'list_transactions', result: 'unanswered', reason, code, trouble: 1 } },
    ])
  })
})
