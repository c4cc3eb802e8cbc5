import type { Measure } from './metric-ref.ts'

/** What wakes a person: one composite alarm for each who suffers, so that one trouble does not hide the next. */
export const PAGES = [
  { id: 'page-money-in', summary: 'Customers cannot pay, or we do not see that they did.' },
  { id: 'page-announcements', summary: 'Merchants are not told of payments.' },
  { id: 'page-due-work', summary: 'What gets lost is not repaired.' },
  {
    id: 'page-settlements',
    summary: 'Merchants are not settled, or money arrives that no merchant may be credited with.',
  },
  { id: 'page-platform', summary: 'The table or the account refuses, or is about to.' },
] as const

export type Page = (typeof PAGES)[number]

/** One alarm: what it watches, and why it goes off where it does. What a person does then is in docs/runbook.md. */
export type AlarmSpec = {
  /** Names the alarm, `gateway-<stage>-<id>`. */
  readonly id: string
  /** Its heading in docs/runbook.md, where two alarms share one. Left out: its id. */
  readonly heading?: string
  /** The page that it turns on, at any hour. Left out: a ticket, which is read in the day. */
  readonly page?: Page['id']
  /** What is wrong, in one sentence. */
  readonly summary: string
  /** Who notices, and by what. */
  readonly impact: string
  readonly measure: Measure
  /** What the measure counts. */
  readonly unit: string
  readonly when: Threshold & Periods
  /** Why this threshold, and these periods. */
  readonly because: string
  /** Silence is the failure that is watched for; otherwise it is none. */
  readonly whenMissing?: 'breaching'
}

type Threshold = { readonly above: number } | { readonly atLeast: number } | { readonly below: number }

/** Of the last `outOf` periods, `periods` must be bad; all of them unless said otherwise. */
type Periods = { readonly minutes: number; readonly periods: number; readonly outOf?: number }

/** CloudWatch looks back a week at most, and only a day where periods are shorter than an hour. */
export const LONGEST_LOOK_BACK_MINUTES = { shortPeriods: 24 * 60, hourlyPeriods: 7 * 24 * 60 } as const

export const alarmName = (stage: string, { id }: Pick<AlarmSpec, 'id'>): string => `gateway-${stage}-${id}`

export const severityOf = ({ page }: Pick<AlarmSpec, 'page'>): 'page' | 'ticket' => (page ? 'page' : 'ticket')

export const headingOf = ({ id, heading }: Pick<AlarmSpec, 'id' | 'heading'>): string => heading ?? id

export const thresholdOf = ({ when }: Pick<AlarmSpec, 'when'>): number => {
  if ('above' in when) return when.above
  return 'below' in when ? when.below : when.atLeast
}

/** What the mail says: the sentence, the sufferer, and where to read on. */
export const alarmDescription = (spec: AlarmSpec): string =>
  `[${severityOf(spec)}] ${spec.summary} Who suffers: ${spec.impact} What to do: docs/runbook.md#${headingOf(spec)}`
