import type { AlarmSpec } from './alarm-spec.ts'
import { countOf, OVERALL, orZero } from './metric-ref.ts'
import type { Watched } from './watched.ts'

/** Each call of the provider that money waits for, as the log names it (shared/provider/logged-provider.ts). */
export const PROVIDER_OPERATIONS = [
  'create_request',
  'get_request',
  'get_payment',
  'cancel_request',
  'list_transactions',
] as const

/** What callbacks and due work ask. Creates have a service level; the list of transactions has `sync-behind`. */
const QUESTIONS = ['get_request', 'get_payment'] as const

const failing = ({ our }: Watched): AlarmSpec => {
  const bad = QUESTIONS.map((name) => {
    const [calls, errors] = [orZero(`calls_${name}`), orZero(`errors_${name}`)]
    return `${calls} >= 5 && ${errors} > 0.2 * ${calls}`
  })
  return {
    id: 'provider-failing',
    page: 'page-money-in',
    summary: 'More than a fifth of our questions to the provider about payments go wrong.',
    impact: 'customers who paid and see it as pending, and merchants who are told late.',
    measure: {
      formula: countOf(bad),
      of: Object.fromEntries(
        QUESTIONS.flatMap((operation) => [
          [`calls_${operation}`, our('ProviderErrors', { operation }, 'SampleCount')],
          [`errors_${operation}`, our('ProviderErrors', { operation }, 'Sum')],
        ]),
      ),
    },
    unit: 'kinds of calls',
    when: { atLeast: 1, minutes: 5, periods: 2, outOf: 3 },
    because: 'Of at least five calls of one kind. What is refused for one payment’s sake is no error.',
  }
}

/** The provider does not answer, or refuses us. */
export const providerAlarms = (watched: Watched): readonly AlarmSpec[] => [
  failing(watched),
  {
    id: 'provider-refuses-calls',
    summary: 'The provider refuses calls for how we make them: a mistake of ours.',
    impact: 'merchants, whose payments and fees wait for what is refused.',
    measure: watched.our('CallsRefused', OVERALL, 'Sum'),
    unit: 'calls',
    when: { atLeast: 1, minutes: 5, periods: 1 },
    because: 'None is ever right, and no repetition repairs it.',
  },
]
