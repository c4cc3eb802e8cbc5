import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, describe, expect, it } from 'vitest'
import { deployedStage } from '../../infra/stack/stage.ts'
import { PROJECT_ROOT } from '../support/source-file.ts'
import { type Resource, synthesised, synthesisedFront } from '../support/stack-template.ts'
import { withWritten } from '../written-part.ts'
import { costReport, idleCosts, paidCosts, sumOf, type Templates, unpaidCosts, usdOf } from './costs.ts'
import { type Measured, measureFlows } from './measure-flows.ts'
import { keyRequests, metricMonths } from './monthly-activity.ts'
import { everyMetric, metricsByChannel } from './own-metrics.ts'

const templates: Templates = { gateway: synthesised('prod'), front: synthesisedFront(deployedStage('prod')) }

let measured: Measured

beforeAll(async () => {
  measured = await measureFlows()
})

/** One of the stacks with other resources of one type, each with these properties instead of its own. */
const withResources = (name: keyof Templates, type: string, properties: readonly object[]): Templates => {
  const own = templates[name]
  const resources = properties.map((one) => ({ ...own.ofType(type)[0], properties: { ...one } }) as Resource)
  return { ...templates, [name]: { ofType: (asked: string) => (asked === type ? resources : own.ofType(asked)) } }
}

const idleLine = (component: string, of: Templates) =>
  idleCosts(of, measured).find((line) => line.component === component)

describe('the costs in docs/operations.md', () => {
  const document = readFileSync(join(PROJECT_ROOT, 'docs/operations.md'), 'utf8')

  it('are those that `npm run bench -- --write` puts there', () => {
    expect(withWritten(document, 'bench', costReport(templates, measured))).toBe(document)
  })
})

describe('a million payments, at the prices of us-east-1', () => {
  it('cost at most $50 where they are paid and $40 where they are not', () => {
    expect(sumOf(paidCosts(measured))).toBeLessThanOrEqual(50)
    expect(sumOf(unpaidCosts(measured))).toBeLessThanOrEqual(40)
  })
})

describe('the measured flows', () => {
  it('find nothing to write in an idle minute, and pay for looking', () => {
    expect(measured.idleRuns[0]).toMatchObject({ functionName: 'check-due-work', writes: 0, reads: 17 })
  })
})

const [SECRET, ALARM, ACL] = ['AWS::SecretsManager::Secret', 'AWS::CloudWatch::Alarm', 'AWS::WAFv2::WebACL']
const stat = { MetricStat: {} }

describe('the idle costs', () => {
  it.each([
    ['Secrets Manager', 'gateway', SECRET, [{}, {}], /^2 secrets and 0 copy/, 0.8],
    ['Secrets Manager', 'gateway', SECRET, [{ ReplicaRegions: [] }], /^1 secrets and 1 copy/, 0.8],
    ['WAF', 'front', ACL, [{ Rules: [{}, {}] }], /^1 web ACL with 2 rules$/, 7],
    ['CloudWatch alarms', 'gateway', ALARM, [{ MetricName: 'Payments' }], /^1 alarms, which refer to 1 metrics$/, 0.1],
    ['CloudWatch alarms', 'gateway', ALARM, [{ Metrics: [stat, stat, { Expression: 'a' }] }], /to 2 metrics$/, 0.2],
  ] as const)('of %s count what the stack of the %s has: %s %j', (component, stack, type, resources, basis, usd) => {
    const line = idleLine(component, withResources(stack, type ?? '', resources))

    expect(line?.basis).toMatch(basis)
    expect(usdOf({ usage: line?.usage ?? {} })).toBeCloseTo(usd, 2)
  })
})

describe('our own metrics', () => {
  it('are counted once for each set of dimensions', () => {
    expect(new Set(measured.idleRuns.flatMap(({ metrics }) => metrics)).size).toBe(11)
    expect(new Set(measured.perPayment.flatMap(({ metrics }) => metrics)).size).toBe(18)
  })

  it('are billed by the hours in which they are written: what the sweep says once a day, a twenty-fourth', () => {
    const [, sync, sweep] = measured.idleRuns
    if (!sync || !sweep) throw new Error('there are no idle runs')

    expect(metricMonths([sweep])).toBeCloseTo(sweep.metrics.length / 24)
    expect(metricMonths([sync, sync])).toBe(sync.metrics.length)
  })

  it('are all foreseen by the catalogue: every outcome and every trouble', () => {
    const every = everyMetric()
    const flows = [...measured.perPayment, measured.abandoned, ...measured.idleRuns]

    expect(flows.flatMap(({ metrics }) => metrics).filter((metric) => !every.has(metric))).toStrictEqual([])
    expect(every).toContain('Payments gateway-prod virtual_account BCA expired')
    expect(every).toContain('SuspenseItems gateway-prod money wrong_amount')
    expect(every).toContain('FailedMessages gateway-prod gateway-prod-deliver-webhook')
    expect(metricsByChannel()).toBe(7)
  })
})

describe('requests to the stage’s key', () => {
  const fiveMinutes = (730 * 3_600) / 300

  it('are none in a stage whose key only seals', () => {
    expect(keyRequests(synthesised('dev'))).toStrictEqual({ idle: 0, busy: 0 })
  })

  it('are two for each role that sends to a queue and one for its reader, as often as it takes a new data key', () => {
    const busy = (...queues: readonly object[]) =>
      keyRequests(withResources('gateway', 'AWS::SQS::Queue', queues).gateway).busy
    const queue = { QueueName: 'gateway-prod-webhooks' }

    // Six that bring news, deliver-webhook itself, a worker of due work and two routes of merchants; one receives.
    expect(busy(queue) - busy()).toBeCloseTo(21 * fiveMinutes, 3)
    expect(busy({ ...queue, KmsDataKeyReusePeriodSeconds: 3_600 }) - busy()).toBeCloseTo(21 * 730, 3)
  })

  it('come idle from the schedules', () => {
    // check-due-work and the sync all the time, the sweep and the audit each day.
    expect(keyRequests(templates.gateway).idle).toBeCloseTo(2 * fiveMinutes + (2 * 730) / 24)
  })
})
