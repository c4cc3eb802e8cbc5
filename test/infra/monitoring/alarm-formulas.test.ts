/**
 * Goal: alarms that calculate go off for what they are for, and not for what they must not be for. Method: the formula of
 * the synthesised template, calculated for one period as CloudWatch does, against threshold and comparison.
 */
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { alarmsIn } from '../../support/alarm-template.ts'
import { synthesised } from '../../support/stack-template.ts'

const alarms = alarmsIn(synthesised('prod'), 'prod')

type Values = Readonly<Record<string, number | undefined>>

const COMPARE: Readonly<Record<string, (value: number, threshold: number) => boolean>> = {
  GreaterThanThreshold: (value, threshold) => value > threshold,
  GreaterThanOrEqualToThreshold: (value, threshold) => value >= threshold,
  LessThanThreshold: (value, threshold) => value < threshold,
}

const FUNCTIONS = {
  FILL: (value: number | undefined, instead: number) => value ?? instead,
  IF: (condition: boolean, value: number, otherwise: number) => (condition ? value : otherwise),
}

/** Whether a period with these values is a bad one; metrics that are not named said nothing. */
const isBad = (id: string, values: Values): boolean | undefined => {
  const alarm = alarms.find((one) => one.id === id)
  const names = alarm?.expression?.match(/\b[a-z]\w*\b/g) ?? []
  const silent = Object.fromEntries(names.map((name) => [name, undefined]))
  const value: unknown = runInNewContext(alarm?.expression ?? '', { ...FUNCTIONS, ...silent, ...values })
  return alarm && COMPARE[alarm.comparison]?.(Number(value), alarm.threshold)
}

describe('alarms that calculate', () => {
  it.each<[string, string, Values]>([
    ['due-work-not-running', 'nothing said anything', {}],
    ['sweep-not-run', 'nothing said anything', {}],
    ['quiet', 'an operator asked for it', { m0: 1 }],
    ['creates-failing', 'three of ten fail', { created: 7, failed: 3 }],
    ['creates-failing-for-an-hour', 'the five of a night fail', { failed: 5 }],
    ['creates-refused', 'all are refused for what they are', { refused: 20 }],
    ['requests-failing', 'the five of a night fail', { failures: 5, requests: 5 }],
    ['api-errors', 'two of twenty', { errors: 2, requests: 20 }],
    ['requests-refused', 'nobody can log in', { refused: 20, requests: 20 }],
    ['callbacks-missing', 'due work finds all', { succeeded: 10 }],
    ['provider-silent', 'three are found and none is told', { succeeded: 3 }],
    ['announcements-slow', 'many are late', { median: 30_001, samples: 20 }],
    ['deliveries-failing', 'we get out to nobody', { failed: 20 }],
    ['deliveries-failing', 'nobody, and the last tries were made', { abandoned: 17, failed: 2, succeeded: 1 }],
    ['settlements-stuck', 'nobody takes them', { waiting: 1 }],
    [
      'table-writes-near-maximum',
      'it is used to the last unit',
      { m0: 60 * deployedStage('prod').table.maxWriteUnits },
    ],
  ])('%s is on when %s', (id, _, values) => {
    expect(isBad(id, values)).toBe(true)
  })

  it.each<[string, string, Values]>([
    ['due-work-not-running', 'it ran', { m0: 1 }],
    ['quiet', 'nobody asked', {}],
    ['creates-failing', 'a night’s few fail', { failed: 9 }],
    ['creates-failing-for-an-hour', 'half of them are made', { created: 3, failed: 3 }],
    ['creates-refused', 'one merchant of several has a bug', { created: 3, refused: 27 }],
    ['requests-failing', 'five of many', { failures: 5, requests: 1_000 }],
    [
      'requests-failing',
      'a merchant’s payments are refused for what they are',
      { failures: 9, refused: 9, requests: 9 },
    ],
    ['api-errors', 'a merchant’s payments are refused for what they are', { errors: 20, refused: 20, requests: 40 }],
    ['requests-refused', 'somebody looks for paths', { refused: 500, requests: 520, strays: 500 }],
    ['callbacks-missing', 'half of them come', { called: 5, succeeded: 10 }],
    ['provider-silent', 'two are found', { succeeded: 2 }],
    ['provider-silent', 'one callback came', { called: 1, succeeded: 9 }],
    ['announcements-slow', 'one merchant is on retries', { median: 60_000, samples: 19 }],
    ['deliveries-failing', 'one merchant is down', { failed: 80, succeeded: 20 }],
    ['settlements-stuck', 'some are finished', { finished: 1, waiting: 5 }],
    ['table-reads-near-maximum', 'nobody reads any more', {}],
    ['table-writes-near-maximum', 'nobody writes any more', {}],
    ['table-writes-throttled', 'nobody writes any more', {}],
    ['table-errors', 'nobody asks any more', {}],
  ])('%s is off when %s', (id, _, values) => {
    expect(isBad(id, values)).toBe(false)
  })
})
