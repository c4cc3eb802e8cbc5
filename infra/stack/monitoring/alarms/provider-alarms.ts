import type { Watched } from '../watched-stack.ts'
import type { AlarmSpec } from './alarm-spec.ts'
import { countOf, OVERALL, orZero } from './metric-ref.ts'

/**
 * The calls of the provider that money waits for, by their names in the log
 * (shared/provider/logged-provider.ts).
 */
export const PROVIDER_OPERATIONS = [
  'create_request',
  'get_request',
  'get_payment',
  'cancel_request',
  'list_transactions',
] as const

/**
 * Requests by callbacks and due work. Creates have a service level, the listing of transactions has
 * `sync-late`.
 */
const STATUS_REQUESTS = ['get_request', 'get_payment', 'cancel_request'] as const

/** The provider does not answer, or refuses us. */
export function providerAlarms(watched: Watched) {
  return [
    failingRequests(watched),
    {
      id: 'provider-refuses-calls',
      summary: 'The provider refuses calls because our requests are wrong.',
      impact: 'merchants, whose payments and fees wait for these calls.',
      measure: watched.our('CallsRefused', OVERALL, 'Sum'),
      unit: 'calls',
      when: { atLeast: 1, minutes: 5, periods: 1 },
      because: 'One is too many, and a retry does not help.',
    },
  ]
}

function failingRequests({ our }: Watched): AlarmSpec {
  const bad = STATUS_REQUESTS.map((name) => {
    const [calls, errors] = [orZero(`calls_${name}`), orZero(`errors_${name}`)]
    return `${calls} >= 5 && ${errors} > 0.2 * ${calls}`
  })
  return {
    id: 'provider-failing',
    page: 'page-money-in',
    summary: 'More than a fifth of status requests or cancels at the provider fail.',
    impact: 'customers who paid and see it as pending, and merchants whose webhooks come late.',
    measure: {
      formula: countOf(bad),
      metrics: Object.fromEntries(
        STATUS_REQUESTS.flatMap((operation) => [
          [`calls_${operation}`, our('ProviderErrors', { operation }, 'SampleCount')],
          [`errors_${operation}`, our('ProviderErrors', { operation }, 'Sum')],
        ]),
      ),
    },
    unit: 'kinds of calls',
    when: { atLeast: 1, minutes: 5, periods: 2, outOf: 3 },
    because: 'It needs at least five calls of one kind. The refusal of one payment is no error.',
  }
}
