import { type Answer, PROVIDER_READ_TIMEOUT_MS, type Provider } from '../../../shared/provider/provider.ts'
import { type Finding, ok, unclear, wrong } from '../check/finding.ts'

/** Of the provider's form, and of no payment: asking for it shows whether we may ask. */
const NOBODYS_REQUEST = 'pr-00000000-0000-4000-8000-000000000000'

/** Whether the provider takes our key, by two questions that change nothing: one page of one transaction, and a request that is not there. */
export const checkProviderKey = async (
  provider: Pick<Provider, 'listTransactions' | 'getRequest'>,
): Promise<readonly Finding[]> => {
  const [transactions, request] = await Promise.all([
    provider.listTransactions({ limit: 1 }, PROVIDER_READ_TIMEOUT_MS),
    provider.getRequest(NOBODYS_REQUEST, PROVIDER_READ_TIMEOUT_MS),
  ])
  return [
    keyFinding('provider key for transactions', transactions),
    keyFinding('provider key for payment requests', request),
  ]
}

const keyFinding = (what: string, answer: Answer<unknown>): Finding => {
  if (answer.kind !== 'unanswered') return ok(what, 'accepted')
  return answer.reason === 'misconfigured'
    ? wrong(what, 'refused', 'give the key read permission in the dashboard, or put the right key into the secret')
    : unclear(what, answer.reason, 'look at the status page of the provider and try again')
}
