import { compileFunction } from 'node:vm'
import type { alarmsIn } from './alarm-template.ts'

type Alarm = ReturnType<typeof alarmsIn>[number]

/** The value of a metric in a minute, or undefined if nothing is written for that minute. */
export type Signal = (minute: number) => number | undefined

/** Periods that CloudWatch looks back further, where data is missing. */
const SPARE_PERIODS = 2

export const COMPARISONS: Readonly<Record<string, (value: number, threshold: number) => boolean>> =
  {
    GreaterThanThreshold: (value, threshold) => value > threshold,
    GreaterThanOrEqualToThreshold: (value, threshold) => value >= threshold,
    LessThanThreshold: (value, threshold) => value < threshold,
  }

/**
 * Whether an alarm is on in a minute, by the rules of
 * docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/alarms-and-missing-data.html: if the
 * alarm's periods have enough values in a longer range, the latest values decide. Otherwise the
 * alarm's setting stands for each missing value.
 */
export function alarmState(alarm: Alarm, signals: readonly Signal[]) {
  const periodMinutes = (alarm.metrics[0]?.periodSeconds ?? 0) / 60
  const calculate = formulaOf(alarm)
  const isBad = COMPARISONS[alarm.comparison]
  if (!isBad) throw new Error(`${alarm.id} compares in an unknown way`)
  const values = new Map<number, number | undefined>()
  const valueAt = (end: number) => {
    if (!values.has(end))
      values.set(
        end,
        calculate(
          signals.map((signal, at) =>
            aggregate(alarm.reads[at]?.statistic, signal, end - periodMinutes, end),
          ),
        ),
      )
    return values.get(end)
  }
  const { evaluationPeriods: periods, datapointsToAlarm, threshold, treatMissingData } = alarm
  return (minute: number) => {
    const present = Array.from({ length: periods + SPARE_PERIODS }, (_, back) =>
      valueAt(minute - back * periodMinutes),
    ).flatMap((value) => value ?? [])
    const missing = treatMissingData === 'breaching' ? Math.max(0, periods - present.length) : 0
    const bad = present.slice(0, periods).filter((value) => isBad(value, threshold)).length
    return bad + missing >= datapointsToAlarm
  }
}

function aggregate(statistic: string | undefined, signal: Signal, from: number, to: number) {
  const values: number[] = []
  for (let minute = from; minute < to; minute++) {
    const value = signal(minute)
    if (value !== undefined) values.push(value)
  }
  if (values.length === 0) return undefined
  if (statistic === 'Maximum') return Math.max(...values)
  if (statistic === 'Minimum') return Math.min(...values)
  const sum = values.reduce((total, value) => total + value, 0)
  return statistic === 'Average' ? sum / values.length : sum
}

/** A formula has no value if a metric that it needs has none. */
export function formulaOf({ expression, reads }: Pick<Alarm, 'expression' | 'reads'>) {
  if (expression === undefined) return ([value]: readonly (number | undefined)[]) => value
  const names = reads.map(({ name }) => name)
  const run = compileFunction(`return ${expression}`, ['FILL', 'IF', ...names])
  return (values: readonly (number | undefined)[]) => {
    const value: unknown = run(fill, choose, ...values)
    return typeof value === 'number' && !Number.isNaN(value) ? value : undefined
  }
}

function fill(value: number | undefined, instead: number) {
  return value ?? instead
}

function choose<Value>(condition: boolean, then: Value, otherwise: Value) {
  return condition ? then : otherwise
}
