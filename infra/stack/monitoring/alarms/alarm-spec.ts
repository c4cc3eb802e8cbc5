import type { Measure } from './metric-ref.ts'

/** `page`: wakes somebody at any hour. `ticket`: somebody looks at it in the day. */
export type Severity = 'page' | 'ticket'

/** What an alarm watches, whom it is for, and why it goes off where it does. */
export type AlarmSpec = {
  /** Names the alarm (`gateway-<stage>-<id>`) and its heading in docs/runbook.md. */
  readonly id: string
  readonly severity: Severity
  /** What is wrong, in one sentence. */
  readonly summary: string
  /** Who notices, and by what. */
  readonly impact: string
  readonly measure: Measure
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

/** What the mail says: the sentence, the sufferer, and where to read on. */
export const alarmDescription = ({ id, severity, summary, impact }: AlarmSpec): string =>
  `[${severity}] ${summary} Who suffers: ${impact} What to do: docs/runbook.md#${id}`
