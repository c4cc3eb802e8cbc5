import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readOptions, UsageError } from '../check/command-line.ts'
import { startDynamoDbLocal } from '../local/dynamodb-local.ts'
import { deployedStage } from '../stage.ts'
import { stageTemplate } from '../stage-template.ts'
import { costReport, withReport } from './cost-report.ts'
import { measureFlows } from './measure-flows.ts'

const DOCUMENT = join(import.meta.dirname, '../../docs/operations.md')

const HELP = `npm run costs [-- --write]

Measures what every step of a payment uses, on DynamoDB Local, and prints what the gateway costs idle and per million payments.
  --write   puts the tables into docs/operations.md as well
Exit code: 0 done, 2 called wrongly.`

const printCosts = async (write: boolean): Promise<void> => {
  const dynamodb = await startDynamoDbLocal()
  try {
    const report = costReport(stageTemplate(deployedStage('prod')), await measureFlows(dynamodb.endpoint))
    console.log(report)
    if (write) writeFileSync(DOCUMENT, withReport(readFileSync(DOCUMENT, 'utf8'), report))
  } finally {
    await dynamodb.close()
  }
}

try {
  const options = { write: { type: 'boolean' }, help: { type: 'boolean' } } as const
  const { write = false, help = false } = readOptions(process.argv.slice(2), options)
  if (help) console.log(HELP)
  else await printCosts(write)
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  console.error(`${error.message}\n\n${HELP}`)
  process.exitCode = 2
}
