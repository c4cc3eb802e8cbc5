import { describe, expect, it } from 'vitest'
import { loggedProvider } from '../../../shared/provider/logged-provider.ts'
import type { CreateAnswer, Unanswered } from '../../../shared/provider/provider.ts'
import { providerFailure } from '../../../shared/provider/provider.ts'
import { aCreateInput } from '../../support/scripted-provider.ts'
import { memoryDeps } from '../../support/test-deps.ts'

describe('the log line of a call of the provider', () => {
  it.each<[string, CreateAnswer, 0 | 1]>([
    ['a refusal of the one payment', { kind: 'refused', code: 'INVALID_VALUE_ERROR' }, 0],
    ['a refusal of our account', { kind: 'refused', code: 'INVALID_API_KEY', isAccountWide: true }, 1],
  ])('says whether the provider is in trouble: %s', async (_case, answer, trouble) => {
    const deps = memoryDeps()
    deps.provider.script('createRequest', async () => answer)

    await loggedProvider(deps.provider, deps).createRequest(aCreateInput(), 1_000)

    const fields = { operation: 'create_request', result: answer.kind, trouble }
    expect(deps.lines).toMatchObject([{ code: 'provider.call_failed', fields }])
  })

  it.each<[Unanswered['reason'], string | undefined, string]>([
    ['refused', 'API_VALIDATION_ERROR', 'provider.call_refused'],
    ['misconfigured', undefined, 'provider.call_refused'],
    ['unreachable', undefined, 'provider.call_failed'],
  ])('calls a 4xx to a read of ours our mistake, with its code: %s %s', async (reason, code, line) => {
    const deps = memoryDeps()
    deps.provider.script('listTransactions', async () => ({ kind: 'unanswered', reason, ...(code && { code }) }))

    await loggedProvider(deps.provider, deps).listTransactions({ limit: 1 }, 1_000)

    const fields = { operation: 'list_transactions', result: 'unanswered', reason, code, trouble: 1 }
    expect(deps.lines).toMatchObject([{ code: line, fields }])
  })
})

// That only silence is the network (spec 7): `api-payment-by-id-and-key.test.ts`.
it('a refusal names the rate limit when the provider wants no more calls now', () => {
  const message = "the provider's rate limit is reached; try again"

  expect(providerFailure({ reason: 'rate_limited' }, 'try again')).toMatchObject({ code: 'server_error', message })
})
