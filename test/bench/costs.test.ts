import { beforeAll, expect, it } from 'vitest'
import { withWritten } from '../../infra/local/terminal/with-written.ts'
import { deployedStage } from '../../infra/stack/stage.ts'
import { projectText } from '../support/source-file.ts'
import { synthesised, synthesisedFront } from '../support/stack-template.ts'
import { sumOf } from './cost-lines.ts'
import { costReport, metricsOf, paymentCosts, type Templates } from './costs.ts'
import { type Measured, measureFlows } from './measure-flows.ts'
import { everyMetric, metricsByChannel } from './own-metrics.ts'

const templates: Templates = {
  gateway: synthesised('prod'),
  front: synthesisedFront(deployedStage('prod')),
}

let measured: Measured

beforeAll(async () => {
  measured = await measureFlows()
})

it('docs/operations.md has the costs that `npm run bench -- --write` writes', () => {
  const document = projectText('docs/operations.md')

  expect(withWritten(document, 'bench', costReport(templates, measured))).toBe(document)
})

it('a million payments cost at most $50 if paid and $40 if unpaid, at the prices of us-east-1', () => {
  expect(sumOf(paymentCosts(measured.paid))).toBeLessThanOrEqual(50)
  expect(sumOf(paymentCosts(measured.unpaid))).toBeLessThanOrEqual(40)
})

it('the catalogue of metrics has every metric of the measured flows, and the metrics of failures', () => {
  const every = everyMetric()
  const flows = [...measured.paid.flows, measured.abandoned, ...measured.idleRuns]

  expect([...metricsOf(flows).difference(every)]).toStrictEqual([])
  expect(every).toContain('Payments gateway-prod virtual_account BCA expired')
  expect(every).toContain('SuspenseItems gateway-prod money wrong_amount')
  expect(every).toContain('FailedMessages gateway-prod gateway-prod-deliver-webhook')
  expect(metricsByChannel()).toBe(8)
})
