/** A time of day in UTC, to the minute. */
export type TimeOfDay = { readonly hour: number; readonly minute: number }

/** The times of day at which schedules run: a setting of the stage, which the manifest calls by its name. */
export type DailyTimes = { readonly sweepAtUtc: TimeOfDay }

/** What they are unless a stage says otherwise; the local gateway's too. The sweep's is spec 3.2, rule 1. */
export const DAILY_TIMES: DailyTimes = { sweepAtUtc: { hour: 2, minute: 0 } }
