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
    ['sync-behind', 'nothing said anything', {}],
    ['sync-behind', 'no run was complete', { runs: 1, incomplete: 1 }],
    ['sync-behind', 'it reads late', { runs: 1, lag: 900_001 }],
    ['quiet', 'an operator asked for it', { m0: 1 }],
    ['creates-answered-fast', 'eight of a hundred fail', { created: 92, failed: 8 }],
    ['creates-answered-fast', 'the five of a night crash', { crashed: 5 }],
    ['creates-answered-slow', 'four of a hundred are throttled', { created: 120, throttled: 5 }],
    ['webhooks-in-time-fast', 'nine of twenty are late', { announced: 20, soon: 11 }],
    ['webhooks-in-time-slow', 'none is in time', { announced: 20 }],
    ['settled-in-time-fast', 'three of twenty fail at first', { failed: 3, swept: 20 }],
    ['settled-in-time-slow', 'one of thirty is given up', { dead: 1, swept: 30 }],
    ['creates-refused', 'all are refused for what they are', { refused: 20 }],
    ['money-not-moving', 'no payment of twenty succeeds', { created: 20 }],
    ['api-errors', 'the five of a night fail', { errors: 5, requests: 5 }],
    ['api-errors-lasting', 'one in a hundred fails', { errors: 10, requests: 1_000 }],
    ['requests-refused', 'no caller can log in', { refused: 20, requests: 20 }],
    ['callbacks-missing', 'due work finds all', { succeeded: 3 }],
    ['provider-failing', 'two of five questions fail', { calls_get_payment: 5, errors_get_payment: 2 }],
    ['deliveries-failing', 'we get out to no merchant', { failed: 20 }],
    ['deliveries-failing', 'no merchant, and the last tries were made', { abandoned: 17, failed: 2, succeeded: 1 }],
    ['messages-waiting', 'one of the sync waits', { sync: 2_401 }],
    ['messages-given-up', 'one is in one of the queues', { m8: 1 }],
    ['settlements-stuck', 'no worker takes them', { waiting: 1 }],
    ['table-throttled', 'an index refuses writes', { m9: 10 }],
    ['table-near-maximum', 'it is used to the last unit', { writes: 60 * deployedStage('prod').table.maxWriteUnits }],
  ])('%s is on when %s', (id, _, values) => {
    expect(isBad(id, values)).toBe(true)
  })

  it.each<[string, string, Values]>([
    ['due-work-not-running', 'it ran', { m0: 1 }],
    ['sync-behind', 'it runs, to its end, and soon', { runs: 1, incomplete: 0, lag: 900_000 }],
    ['quiet', 'no operator asked', {}],
    ['creates-answered-fast', 'a night’s few fail', { failed: 4 }],
    ['creates-answered-fast', 'seven of a hundred fail', { created: 93, failed: 7 }],
    ['creates-answered-fast', 'payments are refused for what they are', { refused: 50 }],
    ['webhooks-in-time-fast', 'one merchant of few is on retries', { announced: 19 }],
    ['webhooks-in-time-fast', 'some merchants are on retries', { announced: 100, soon: 60 }],
    ['settled-in-time-fast', 'two clients fail', { failed: 2, swept: 2 }],
    ['settled-in-time-fast', 'clients are tried again, long after the sweep', { failed: 9 }],
    ['settled-in-time-slow', 'one of forty is given up', { dead: 1, swept: 40 }],
    ['creates-refused', 'one merchant of several has a bug', { created: 3, refused: 27 }],
    ['money-not-moving', 'one payment of many succeeds', { created: 900, succeeded: 1 }],
    ['api-errors', 'five of many', { errors: 5, requests: 1_000 }],
    ['api-errors', 'a merchant’s payments are refused for what they are', { errors: 20, refused: 20, requests: 40 }],
    ['api-errors-lasting', 'a few of many', { errors: 10, requests: 2_000 }],
    ['requests-refused', 'a scanner looks for paths', { refused: 500, requests: 520, strays: 500 }],
    ['callbacks-missing', 'half of them come', { called: 5, succeeded: 10 }],
    ['callbacks-missing', 'two are found', { succeeded: 2 }],
    ['provider-failing', 'the few questions of a night fail', { calls_get_request: 4, errors_get_request: 4 }],
    ['deliveries-failing', 'one merchant is down', { failed: 80, succeeded: 20 }],
    ['messages-waiting', 'retries explain it', { webhooks: 1_200, settlements: 4_500 }],
    ['settlements-stuck', 'some are finished', { finished: 1, waiting: 5 }],
    ['table-near-maximum', 'there are no reads and no writes', {}],
    ['table-throttled', 'there are no reads and no writes', {}],
  ])('%s is off when %s', (id, _, values) => {
    expect(isBad(id, values)).toBe(false)
  })
})
