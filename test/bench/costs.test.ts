import { beforeAll, expect, it } from 'vitest'
import { withWritten } from '../../infra/local/terminal/with-written.ts'
import { projectText } from '../support/source-file.ts'
import { billedStages } from './billed-stages.ts'
import { sumOf } from './cost-lines.ts'
import { costReport, paidCosts, paymentCosts } from './costs.ts'
import { idleCosts, metricsOf } from './idle-costs.ts'
import { type Measured, measureFlows } from './measure-flows.ts'
import { everyMetric, metricsByChannel } from './own-metrics.ts'

const stages = billedStages()

let measured: Measured

beforeAll(async () => {
  measured = await measureFlows()
})

it('docs/operations.md has the costs that `npm run bench -- --write` writes', () => {
  const document = projectText('docs/operations.md')

  expect(withWritten(document, 'bench', costReport(stages, measured))).toBe(document)
})

it.each([
  ['prod', 130],
  ['dev', 15],
] as const)('a new stage %s without traffic costs at most $%i a month', (name, most) => {
  expect(sumOf(idleCosts(stages[name], measured))).toBeLessThanOrEqual(most)
})

it('a million payments cost at most $50 if paid, with audits, and $40 if unpaid, at the prices of us-east-1', () => {
  expect(sumOf(paidCosts(measured.paid))).toBeLessThanOrEqual(50)
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
