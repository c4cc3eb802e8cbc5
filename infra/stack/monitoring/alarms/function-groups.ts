import { type FunctionSpec } from '../../../../functions/function-spec.ts'
import { awsMetric, type Formula, sumOf } from './metric-ref.ts'
import type { Watched } from './watched.ts'

/** Functions that fail for the same people. Operators see for themselves when an action of theirs breaks off. */
export type FunctionGroup = {
  readonly id: string
  readonly functions: string
  readonly impact: string
  readonly severity: 'page' | 'ticket'
  /** Started so seldom that a single crash must be seen: there is no second one within the hour. */
  readonly seldom?: true
  readonly has: (spec: FunctionSpec) => boolean
}

const CALLBACKS = '/callbacks/'

const isCallback = ({ trigger }: FunctionSpec): boolean => trigger.kind === 'http' && trigger.path.startsWith(CALLBACKS)

export const FUNCTION_GROUPS: readonly FunctionGroup[] = [
  {
    id: 'api',
    functions: 'Functions that answer merchants',
    impact: 'merchants, who get errors without our envelope.',
    severity: 'page',
    has: (spec) =>
      (spec.trigger.kind === 'http' && !isCallback(spec) && !spec.lookup) || spec.trigger.kind === 'http-default',
  },
  {
    id: 'lookups',
    functions: 'Functions that show merchants their webhooks, events and settled payments',
    impact: 'merchants who look something up, and who get errors without our envelope. Payments go on.',
    severity: 'ticket',
    has: ({ lookup }) => lookup === true,
  },
  {
    id: 'callbacks',
    functions: 'The function that takes callbacks',
    impact: 'customers whose payment shows as pending until due work asks about it.',
    severity: 'page',
    has: isCallback,
  },
  {
    id: 'deliveries',
    functions: 'The function that delivers webhooks',
    impact: 'merchants, who are told of payments late.',
    severity: 'page',
    has: ({ trigger }) => trigger.kind === 'queue' && trigger.queue === 'webhooks',
  },
  {
    id: 'settlements',
    functions: 'The function that settles clients',
    impact: 'merchants, whose payout is late.',
    severity: 'ticket',
    seldom: true,
    has: ({ trigger }) => trigger.kind === 'queue' && trigger.queue === 'settlements',
  },
  {
    id: 'audits',
    functions: 'The function that audits books',
    impact: 'nobody yet: what is wrong in a merchant’s books is found later.',
    severity: 'ticket',
    seldom: true,
    has: ({ trigger }) => trigger.kind === 'queue' && trigger.queue === 'audits',
  },
  {
    id: 'due-work',
    functions: 'Functions that look at what is due',
    impact: 'everyone whose callback or message is lost, if it goes on.',
    severity: 'ticket',
    has: ({ trigger }) => trigger.kind === 'queue' && trigger.queue.startsWith('due-'),
  },
  {
    id: 'schedules',
    functions: 'Functions that the clock starts, and those that share the sync',
    impact: 'everyone whom due work, the sync or the sweep serves, if it goes on.',
    severity: 'ticket',
    seldom: true,
    has: ({ trigger }) => trigger.kind === 'schedule' || (trigger.kind === 'queue' && trigger.queue === 'sync'),
  },
]

/** A count of Lambda's over all functions of a group. */
export const groupSum = (
  { functions }: Watched,
  { has }: FunctionGroup,
  name: 'Errors' | 'Throttles' | 'Invocations',
): Formula => {
  const names = functions.filter(({ spec }) => has(spec)).map(({ functionName }) => functionName)
  return sumOf(names.map((FunctionName) => awsMetric('AWS/Lambda', name, { FunctionName }, 'Sum')))
}
