import { chosenProvider } from '../../../shared/runtime/chosen-provider.ts'
import { providerSecretName } from '../../../shared/secrets.ts'
import type { TestEnvironment } from './test-environment.ts'

/**
 * Throws an error for the developer if the provider does not answer, or refuses the key or one of
 * its permissions. The answer's headers begin the budget of calls.
 */
export async function proveKey({ url, secretKey, call }: TestEnvironment) {
  const stage = 'local'
  const provider = chosenProvider({
    baseUrl: url,
    stage,
    secrets: {
      get: async (name) =>
        name === providerSecretName(stage) ? JSON.stringify({ secret_key: secretKey }) : undefined,
    },
    nowMs: () => performance.now(),
    call,
  })
  const answer = await provider.listTransactions({ limit: 1 })
  if (answer.kind !== 'unanswered' || answer.reason === 'rate_limited') return
  const code = answer.code === undefined ? '' : ` (${answer.code})`
  throw new Error(
    answer.reason === 'misconfigured'
      ? `${url} refuses XENDIT_SECRET_KEY${code}: check the key, and that it may read transactions`
      : `${url} did not answer as expected: ${answer.reason}${code}; check the network, and try again`,
  )
}
