import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startDynamoDbLocal } from '../../local/emulators/dynamodb-local.ts'
import { readOptions, runCommand } from '../../local/terminal/command-line.ts'
import { deployedStage } from '../../stack/stage.ts'
import { stageTemplate } from '../../stack/stage-template.ts'
import { costReport, withReport } from './cost-report.ts'
import { measureFlows } from './measure-flows.ts'

const DOCUMENT = join(import.meta.dirname, '../../../docs/operations.md')

const HELP = `npm run costs [-- --write]

Measures what every step of a payment uses, on DynamoDB Local, and prints what the gateway costs idle and per million payments.
  --write      puts the tables into docs/operations.md as well
  --help, -h   this text
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

process.exitCode = await runCommand(HELP, process.argv.slice(2), async (argv) => {
  await printCosts(readOptions(argv, { write: { type: 'boolean' } } as const).write ?? false)
  return 0
})
