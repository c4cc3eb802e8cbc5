import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { tableNameOf } from '../../stack/stack-name-of.ts'
import type { DeployedStage } from '../../stack/stage.ts'
import { type Finding, ok, wrong } from '../check/finding.ts'
import { runCheck } from '../check/run-check.ts'
import { missingSettings } from '../restore/missing-settings.ts'

/** A restored table that the stack has not taken over: no drift shows what it lacks. And a stage that is still closed. */
export const checkTable = async (client: DynamoDBClient, stage: DeployedStage): Promise<readonly Finding[]> => {
  const { name } = stage.settings
  const role =
    stage.role === 'open' ? [] : [wrong('role', `${name} is closed`, 'docs/operations.md, "7. Restoring the table"')]
  if (stage.table.generation === stage.table.adopted) return role
  const TableName = tableNameOf(stage)
  const table = await runCheck(`table ${TableName}`, async () => {
    const missing = await missingSettings({ client, stage, TableName })
    if (missing.length === 0) return ok(`table ${TableName}`, 'as the stage’s file says')
    const lacks = missing.map(({ what }) => what).join(', ')
    return wrong(`table ${TableName}`, `lacks: ${lacks}`, `npm run restore -- --stage ${name} --finish`)
  })
  return [...role, ...table]
}
