import { deployedStage } from '../../infra/stack/stage.ts'
import { synthesised, synthesisedFront } from '../support/stack-template.ts'
import { writePart } from '../written-part.ts'
import { costReport } from './cost-report.ts'
import { measureFlows } from './measure-flows.ts'

const COSTS = {
  script: 'bench',
  does: 'Measures what every step of a payment uses, and prints what the gateway costs idle, in use and per million payments.',
  document: 'docs/operations.md',
}

await writePart(COSTS, async () => {
  const templates = { gateway: synthesised('prod'), front: synthesisedFront(deployedStage('prod')) }
  return costReport(templates, await measureFlows())
})
