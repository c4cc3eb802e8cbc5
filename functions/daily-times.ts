/**
 * The times of day, in UTC, at which schedules run: those of the local gateway, and of a stage that
 * sets no others. The manifest names them. Spec 3.2, rule 1 sets the sweep's time.
 */
export const DAILY_TIMES = {
  sweepAtUtc: { hour: 2, minute: 0 },
  auditAtUtc: { hour: 4, minute: 0 },
} as const satisfies Record<string, TimeOfDay>
export type DailyTimes = Readonly<Record<keyof typeof DAILY_TIMES, TimeOfDay>>

export type TimeOfDay = { readonly hour: number; readonly minute: number }
