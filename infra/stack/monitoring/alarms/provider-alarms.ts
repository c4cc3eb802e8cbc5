import type { AlarmSpec, Severity } from './alarm-spec.ts'
import { OVERALL } from './metric-ref.ts'
import type { Watched } from './watched.ts'

type Operation = {
  readonly name: string
  readonly call: string
  readonly impact: string
  readonly severity: Severity
  /** Slow: most of the time that design section 4 gives the call. */
  readonly slowMs: number
}

/** Each call of the provider, as the log names it (shared/provider/logged-provider.ts). */
export const PROVIDER_OPERATIONS: readonly Operation[] = [
  {
    name: 'create_request',
    call: 'Creating payments at the provider',
    impact: 'merchants, whose creates answer 500, and their customers.',
    severity: 'page',
    slowMs: 8_000,
  },
  {
    name: 'get_request',
    call: 'Asking the provider how a payment request stands',
    impact: 'customers whose payment stays pending although they paid or it is over.',
    severity: 'page',
    slowMs: 3_000,
  },
  {
    name: 'get_payment',
    call: 'Asking the provider whether money was captured',
    impact: 'customers who paid, and merchants who are told late: callbacks cannot be confirmed.',
    severity: 'page',
    slowMs: 3_000,
  },
  {
    name: 'cancel_request',
    call: 'Cancelling at the provider',
    impact: 'merchants, whose cancels answer 502; expired payments stay payable for longer.',
    severity: 'ticket',
    slowMs: 3_000,
  },
  {
    name: 'list_transactions',
    call: "Reading the provider's transactions",
    impact: 'merchants whose settlement waits for actual fees; lost captures are found late.',
    severity: 'ticket',
    slowMs: 3_000,
  },
]

/** The part of an alarm's id that names the operation. */
const idOf = ({ name }: Operation): string => name.replace('_', '-')

export const providerErrorsId = (operation: Operation): string => `provider-errors-${idOf(operation)}`

const refusals = ({ our }: Watched): AlarmSpec => ({
  id: 'provider-refuses-calls',
  severity: 'ticket',
  summary: 'The provider refuses calls for how we make them: a mistake of ours, not its silence.',
  impact: 'merchants, whose payments and fees are not looked after by what is refused.',
  measure: our('CallsRefused', OVERALL, 'Sum'),
  when: { atLeast: 1, minutes: 5, periods: 1 },
  because: 'None is ever right, and no repetition mends it; what many of them do to money pages by itself.',
})

/** The provider by operation: how many of its calls go wrong, and how long they take; and what it refuses us. */
export const providerAlarms = (watched: Watched): readonly AlarmSpec[] => [
  ...PROVIDER_OPERATIONS.flatMap((operation) => operationAlarms(operation, watched)),
  refusals(watched),
]

const operationAlarms = (operation: Operation, { our }: Watched): readonly AlarmSpec[] => [
  {
    id: providerErrorsId(operation),
    severity: operation.severity,
    summary: `${operation.call} goes wrong in more than a fifth of the calls.`,
    impact: operation.impact,
    measure: {
      formula: 'IF(calls >= 5, 100 * errors / calls, 0)',
      of: {
        errors: our('ProviderErrors', { operation: operation.name }, 'Sum'),
        calls: our('ProviderErrors', { operation: operation.name }, 'SampleCount'),
      },
    },
    when: { above: 20, minutes: 5, periods: 2, outOf: 3 },
    because: 'Percent of at least five calls. What is refused for one payment’s sake does not count as an error.',
  },
  {
    id: `provider-slow-${idOf(operation)}`,
    severity: 'ticket',
    summary: `${operation.call} takes almost as long as we wait for it.`,
    impact: operation.impact,
    measure: our('ProviderLatency', { operation: operation.name }, 'p99'),
    when: { above: operation.slowMs, minutes: 5, periods: 3 },
    because: 'Milliseconds at the 99th percentile, below the deadline at which slow calls begin to fail.',
  },
]
