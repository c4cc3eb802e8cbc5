import type { Measure } from './metric-ref.ts'

/** The composite alarms that wake a person, by affected people: a fault does not hide the next. */
export const PAGES = [
  {
    id: 'page-money-in',
    summary: 'Customers cannot pay, or the gateway does not see their payments.',
  },
  { id: 'page-announcements', summary: 'Merchants get no webhooks.' },
  { id: 'page-due-work', summary: 'Due work does not repair lost callbacks and messages in time.' },
  {
    id: 'page-settlements',
    summary:
      'Merchants are not settled or not paid out, or much money arrives that the gateway cannot ' +
      'credit to a merchant.',
  },
  { id: 'page-front', summary: 'Requests to the public name do not reach the gateway.' },
  {
    id: 'page-platform',
    summary: 'DynamoDB refuses requests, Lambda is close to its limit, or a protection is weaker.',
  },
] as const

export type Page = (typeof PAGES)[number]

/** What an alarm watches, and why it has this threshold. docs/runbook.md says what to do. */
export type AlarmSpec = {
  /** The alarm's name is `gateway-<stage>-<id>`. */
  readonly id: string
  /** The heading in docs/runbook.md, if two alarms share it. By default the id. */
  readonly heading?: string
  /**
   * The page that the alarm turns on, at any hour. An alarm without a page is a ticket, which is
   * read in the day.
   */
  readonly page?: Page['id']
  readonly summary: string
  readonly impact: string
  readonly measure: Measure
  readonly unit: string
  readonly when: Threshold & Periods
  readonly because: string
  /**
   * A short window beside a long one: the page is on while both are bad, so it ends soon after the
   * failure.
   */
  readonly recent?: { readonly measure: Measure; readonly minutes: number }
  /** Set where missing data is the failure. Otherwise missing data is no failure. */
  readonly whenMissing?: 'breaching'
}

export type AlarmGroup = { readonly heading: string; readonly alarms: readonly AlarmSpec[] }

type Threshold =
  | { readonly above: number }
  | { readonly atLeast: number }
  | { readonly below: number }

/** Of the last `outOf` periods, `periods` must be bad. By default all periods. */
type Periods = { readonly minutes: number; readonly periods: number; readonly outOf?: number }

export function alarmName(stage: string, { id }: Pick<AlarmSpec, 'id'>) {
  return `gateway-${stage}-${id}`
}

export function severityOf({ page }: Pick<AlarmSpec, 'page'>) {
  return page ? 'page' : 'ticket'
}

export function headingOf({ id, heading }: Pick<AlarmSpec, 'id' | 'heading'>) {
  return heading ?? id
}

export function thresholdOf({ when }: Pick<AlarmSpec, 'when'>) {
  if ('above' in when) return when.above
  return 'below' in when ? when.below : when.atLeast
}

/** What is wrong, who suffers, and which runbook entry to read. */
export function alarmDescription(spec: AlarmSpec) {
  return `[${severityOf(spec)}] ${spec.summary} Who suffers: ${spec.impact} What to do: docs/runbook.md#${headingOf(spec)}`
}
