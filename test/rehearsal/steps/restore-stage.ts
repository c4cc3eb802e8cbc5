import * as dynamodb from '@aws-sdk/client-dynamodb'
import * as lambda from '@aws-sdk/client-lambda'
import { functionName } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { awsClients } from '../../../infra/operate/check/aws-clients.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { REGION } from '../emulator.ts'
import { type Merchant, PaymentSchema } from '../merchant.ts'
import { eventually, expect, type Rehearsal, STACK, STAGE } from '../rehearsal.ts'
import { syncCompletely } from './pay-out.ts'
import { advance } from './take-payments.ts'

const TableName = STACK
const RESTORED = `${STACK}-restored`

const FUNCTIONS = MANIFEST.map((spec) => functionName(STAGE, spec))

const clients = () => {
  const { dynamodb: table, lambda: functions } = awsClients(REGION)
  return { table, functions }
}

const active = (name: string) =>
  eventually(`${name} is active`, async () => {
    const { Table: table } = await clients().table.send(new dynamodb.DescribeTableCommand({ TableName: name }))
    return table?.TableStatus === 'ACTIVE' ? table : undefined
  })

const backup = async (name: string, BackupName: string): Promise<string> => {
  const { table } = clients()
  const { BackupDetails: made } = await table.send(new dynamodb.CreateBackupCommand({ TableName: name, BackupName }))
  if (made?.BackupArn === undefined) throw new Error(`there is no backup of ${name}`)
  return made.BackupArn
}

/** A table that was damaged, by the steps of docs/operations.md, section 7. */
export const restoreStage = async (rehearsal: Rehearsal, merchant: Merchant): Promise<void> => {
  const { step } = rehearsal
  const { table, functions } = clients()
  const payment = await merchant.create('order-6')
  const key = { pk: { S: `PAYMENT#${payment.id}` }, sk: { S: 'PAYMENT' } }
  const kept = await backup(TableName, 'good')
  const good = new Date(Date.now() + rehearsal.clock.offsetSeconds() * 1_000)
  await step('restore: a row is lost, and everything that writes is stopped', async () => {
    advance(rehearsal, 60)
    await table.send(new dynamodb.DeleteItemCommand({ TableName, Key: key }))
    for (const FunctionName of FUNCTIONS) {
      const stop = new lambda.PutFunctionConcurrencyCommand({ FunctionName, ReservedConcurrentExecutions: 0 })
      await functions.send(stop)
    }
  })
  await step('the table is restored to the last good second, and swapped', async () => {
    await backup(TableName, 'damaged')
    const from = { SourceTableName: TableName, TargetTableName: RESTORED, RestoreDateTime: good }
    await table.send(new dynamodb.RestoreTableToPointInTimeCommand(from))
    await active(RESTORED)
    const { Item: row } = await table.send(new dynamodb.GetItemCommand({ TableName: RESTORED, Key: key }))
    if (row === undefined) {
      rehearsal.cannot(
        'a restore to a point in time brings what is there now; a backup made before was restored instead',
      )
      await table.send(new dynamodb.DeleteTableCommand({ TableName: RESTORED }))
      await table.send(new dynamodb.RestoreTableFromBackupCommand({ TargetTableName: RESTORED, BackupArn: kept }))
      await active(RESTORED)
    }
    const BackupArn = await backup(RESTORED, 'restored')
    await table.send(new dynamodb.DeleteTableCommand({ TableName }))
    await table.send(new dynamodb.RestoreTableFromBackupCommand({ TargetTableName: TableName, BackupArn }))
    await active(TableName)
    await table.send(new dynamodb.DeleteTableCommand({ TableName: RESTORED }))
  })
  await step('it is given back what a restore does not bring', () => complete())
  await step('everything runs again, and what is paid is announced', async () => {
    for (const FunctionName of FUNCTIONS) {
      await functions.send(new lambda.DeleteFunctionConcurrencyCommand({ FunctionName }))
    }
    await syncCompletely(rehearsal)
    const { status } = await merchant.get(PaymentSchema, `payments/${payment.id}`)
    expect(status === 'pending', `the payment is ${status}`)
    await merchant.pay(payment)
    await eventually('a webhook', async () => (await merchant.webhooksOf(payment))[0])
  })
}

/** Step 6 of that section. */
const complete = async (): Promise<void> => {
  const { table } = clients()
  const { maxReadUnits, maxWriteUnits } = deployedStage(STAGE).table
  const OnDemandThroughput = { MaxReadRequestUnits: maxReadUnits, MaxWriteRequestUnits: maxWriteUnits }
  await table.send(new dynamodb.UpdateTableCommand({ TableName, OnDemandThroughput }))
  const { GlobalSecondaryIndexes: indexes = [] } = await active(TableName)
  for (const { IndexName } of indexes) {
    const Update = { IndexName, OnDemandThroughput }
    const change = { TableName, GlobalSecondaryIndexUpdates: [{ Update }] }
    await table.send(new dynamodb.UpdateTableCommand(change))
    await active(TableName)
  }
  const TimeToLiveSpecification = { Enabled: true, AttributeName: 'ttl' }
  await table.send(new dynamodb.UpdateTimeToLiveCommand({ TableName, TimeToLiveSpecification }))
  const PointInTimeRecoverySpecification = { PointInTimeRecoveryEnabled: true, RecoveryPeriodInDays: 35 }
  await table.send(new dynamodb.UpdateContinuousBackupsCommand({ TableName, PointInTimeRecoverySpecification }))
}
