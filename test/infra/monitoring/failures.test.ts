import { describe, expect, it } from 'vitest'
import { alarmState, type Signal } from '../../support/alarm-evaluator.ts'
import { alarmsIn } from '../../support/alarm-template.ts'
import { synthesised, synthesisedFront } from '../../support/stack-template.ts'
import { stageWith } from '../../support/stage-options.ts'
import { BUSY } from './calm-metrics.ts'
import { FAILURES, type Failure } from './failures.ts'
import { WHILE_NOTHING_HAPPENS } from './metric-facts.ts'

/**
 * Goal: each failure turns on exactly the alarms that should be on, in time. Method: the alarms of
 * the synthesised templates are evaluated minute by minute, by CloudWatch's rules, over what each
 * metric does before and during the failure.
 */
const templates = [synthesised('prod'), synthesisedFront(stageWith({}, 'prod'))].map(
  (template) => ({
    // The alarms of a canary only roll a deployment back.
    alarms: alarmsIn(template, 'prod').filter(({ id }) => !id.startsWith('canary-')),
    pages: template
      .all('AWS::CloudWatch::CompositeAlarm')
      .map((page) => ({
        id: String(page['AlarmName']).replace('gateway-prod-', ''),
        rule: String(page['AlarmRule']),
      })),
  }),
)

type Alarm = ReturnType<typeof alarmsIn>[number]

/** The metric's namespace and name, and what distinguishes it from other metrics of the name. */
function labelOf({ metrics, reads }: Alarm, at: number) {
  const { namespace, name = '', dimensions = {} } = metrics[at] ?? {}
  const values = ['FunctionName', 'QueueName', 'RuleName', 'Rule', 'CertificateArn', 'outcome']
    .concat('source', 'operation', 'kind', 'function', 'audit_of', 'GlobalSecondaryIndexName')
    .flatMap((dimension) => dimensions[dimension] ?? [])
    .map((value) => CERTIFICATES.find(([text]) => value.includes(text))?.[1] ?? value)
  const isTwofold = /^(TimeToAnnounce|ProviderErrors)$/.test(name)
  const words = [name, ...values, ...(isTwofold ? [reads[at]?.statistic ?? ''] : [])]
  return `${namespace}: ${words.join(' ').replaceAll('gateway-prod-', '')}`
}

const CERTIFICATES = [
  ['<Certificate', 'public'],
  ['<DomainCertificate', 'origin'],
  ['arn:', 'shown'],
] as const

/** Every minute for an hour, then every quarter of an hour. */
function minutesOf({ lasts }: Failure) {
  return Array.from({ length: lasts + 1 }, (_, minute) => minute).filter(
    (minute) => minute <= 60 || minute % 15 === 0,
  )
}

/** A metric's name in a failure, with what distinguishes it from others, and alone. */
function keysOf(label: string) {
  const [, name = ''] = label.split(': ')
  return [name, name.split(' ')[0] ?? '']
}

/**
 * Whether a failure changes a metric of the alarm. Two failures without any change show that all
 * other alarms stay off.
 */
function isTouched({ during }: Failure, alarm: Alarm) {
  const labels = alarm.metrics.map((_, at) => labelOf(alarm, at))
  return Object.keys(during).length === 0 || labels.flatMap(keysOf).some((name) => name in during)
}

/**
 * The values of a metric by the minutes of a failure, by the metric's label, or by its first word.
 * Undefined: nothing is written.
 */
function signalOf({ before = BUSY, during }: Failure, label: string): Signal {
  const idle = WHILE_NOTHING_HAPPENS.find(([kind]) => kind.test(label))
  if (!idle) throw new Error(`no source says what ${label} shows while nothing happens`)
  const keys = keysOf(label)
  const [calm, failing] = [[before], [during, before]].map((sources) =>
    keys.flatMap((key) => sources.flatMap((source) => source[key] ?? []).slice(0, 1)),
  )
  const unwritten = idle[1] === 'zero' ? 0 : undefined
  return (minute) => {
    const [value = unwritten] = (minute >= 0 ? failing : calm) ?? []
    if (typeof value === 'function') return value(minute)
    return value === 'missing' ? undefined : value
  }
}

/** For each alarm and page that goes on: the first minute in which it is on. */
function onIn(failure: Failure) {
  const found = new Map<string, number>()
  const note = (id: string, minute: number) => {
    if (!found.has(id)) found.set(id, minute)
  }
  for (const { alarms, pages } of templates) {
    const touched = alarms.filter((alarm) => isTouched(failure, alarm))
    const states = touched.map((alarm) => {
      const signals = alarm.metrics.map((_, at) => signalOf(failure, labelOf(alarm, at)))
      return { alarm, isOn: alarmState(alarm, signals) }
    })
    for (const minute of minutesOf(failure)) {
      const on = states.filter(({ isOn }) => isOn(minute)).map(({ alarm }) => alarm)
      const onIds = new Set(on.map(({ logicalId }) => logicalId))
      for (const { id, alarmActions } of on) if (alarmActions.length > 0) note(id, minute)
      for (const { id, rule } of pages) if (isTrue(rule, onIds)) note(id, minute)
    }
  }
  return found
}

/** A rule of alarms joined by AND, of which some are joined by OR. */
function isTrue(rule: string, on: ReadonlySet<string>) {
  return rule
    .split(/ OR /)
    .some((part) => [...part.matchAll(/ALARM\("<(\w+)>/g)].every(([, id = '']) => on.has(id)))
}

describe('exactly the alarms that should go on do, in time', () => {
  it.each(FAILURES)('$name', (failure) => {
    const on = onIn(failure)

    expect([...on.keys()].toSorted()).toStrictEqual(Object.keys(failure.alarms).toSorted())
    const late = [...on].filter(([id, minute]) => minute > (failure.alarms[id] ?? 0))
    expect(late).toStrictEqual([])
  })
})
