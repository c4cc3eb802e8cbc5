import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startDynamoDbLocal } from '../local/dynamodb-local.ts'
import { deployedStage } from '../stage.ts'
import { stageTemplate } from '../stage-template.ts'
import { costReport, withReport } from './cost-report.ts'
import { measureFlows } from './measure-flows.ts'

/** `npm run costs` prints what the gateway costs; `--write` puts it into docs/operations.md. */
const DOCUMENT = join(import.meta.dirname, '../../docs/operations.md')

const dynamodb = await startDynamoDbLocal()
try {
  const report = costReport(stageTemplate(deployedStage('prod')), await measureFlows(dynamodb.endpoint))
  console.log(report)
  if (process.argv.includes('--write')) {
    writeFileSync(DOCUMENT, withReport(readFileSync(DOCUMENT, 'utf8'), report))
  }
} finally {
  await dynamodb.close()
}
