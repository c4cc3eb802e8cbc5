import * as aws from '@aws-sdk/client-dynamodb'
import {
  GetFunctionConfigurationCommand,
  ListEventSourceMappingsCommand,
} from '@aws-sdk/client-lambda'
import * as v from 'valibot'
import { runsByItself } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { dynamoDbRequests } from '../../../shared/runtime/aws/dynamodb-table.ts'
import { ENV, SettingsText } from '../../../shared/runtime/config.ts'
import { parseForeignTime, SECOND_MS } from '../../../shared/time.ts'
import { readOptions, runCommand, UsageError } from '../../local/terminal/command-line.ts'
import { printableLine } from '../../local/terminal/printable.ts'
import { type DeployedStage, liveName, tableNameOf } from '../../stack/stage.ts'
import { type AwsClients, awsClients } from '../check/aws-clients.ts'
import { errorName, remedyFor, unlessAbsent } from '../check/finding.ts'
import { requireRegion } from '../check/region-of.ts'
import { encryptionOf, missingSettings, type TargetTable } from './missing-settings.ts'
import { noteRestore, setSyncBack } from './restore-store.ts'

const USAGE = `npm run restore -- --stage NAME (--at TIME | --backup ARN | --finish)

Restores the table of a closed stage as its next generation. The table in use stays as it is.
  --at TIME      restores the table in use to this time (RFC 3339, at most 35 days ago)
  --backup ARN   restores a backup of DynamoDB in this region
  --finish       restores nothing: sets on the stage's table what a restore omits (protection, TTL, tags);
                 payouts then wait for new audits
  --help, -h     this text
Run the same command again to continue after a failure.
Exit code: 0 done, 1 not done, 2 wrong arguments.`

const OPTIONS = {
  stage: { type: 'string' },
  at: { type: 'string' },
  backup: { type: 'string' },
  finish: { type: 'boolean' },
} as const

const POLL_MS = 10_000
/**
 * The polls of twelve hours. The restore continues on AWS, and the same command waits for it again.
 */
const MAX_POLLS = 4_320

type RestoreIo = {
  readonly env: NodeJS.ProcessEnv
  readonly sleep: (ms: number) => Promise<unknown>
  readonly stageNamed: (name: string | undefined) => DeployedStage
}

type Source = { readonly at: Date } | { readonly backup: string }

/**
 * Restores the stage's table as its next generation, and sets what a restore omits (design section
 * 13). Refused while the stage takes traffic, because the books would lack the payments after the
 * restored time.
 */
export function runRestore(argv: readonly string[], io: RestoreIo) {
  return runCommand(USAGE, argv, async () => {
    const { stage: name, at, backup, finish } = readOptions(argv, OPTIONS)
    const stage = io.stageNamed(name)
    if ([at, backup, finish].filter((option) => option !== undefined).length !== 1) {
      throw new UsageError('give one of --at TIME, --backup ARN and --finish')
    }
    const source = backup === undefined ? sourceAt(at) : { backup }
    const clients = awsClients(await requireRegion(io.env))
    const { dynamodb: client } = clients
    const act = async () =>
      source
        ? ((await whyNotClosed(clients, stage)) ?? restore(client, stage, source, io.sleep))
        : completeTable({ client, stage, TableName: tableNameOf(stage) }, io.sleep)
    const refusal = await act().catch(
      (error: unknown) =>
        `${errorName(error)}: ${remedyFor(error)}. Run the same command again to continue.`,
    )
    if (!refusal) return 0
    console.error(printableLine(refusal))
    return 1
  })
}

function sourceAt(at: string | undefined): Source | undefined {
  if (at === undefined) return undefined
  const time = parseForeignTime(at)
  if (!time) throw new UsageError('--at must be an RFC 3339 time such as 2026-11-20T04:00:00Z')
  return { at: new Date(time) }
}

async function completeTable(target: TargetTable, sleep: RestoreIo['sleep'], deploy = 'deploy') {
  await waitUntilActive(target, sleep)
  for (const { what, put } of await missingSettings(target)) {
    await put()
    await waitUntilActive(target, sleep)
    printLine(`${target.TableName}: ${what} set`)
  }
  const table = dynamoDbRequests({ client: target.client, name: target.TableName })
  await noteRestore(table)
  await setSyncBack(table)
  printLine('audits before this moment allow no payout, and the sync reads a day more')
  printLine(`${target.TableName} is as the stage’s file says`)
  if (target.stage.role !== 'closed') return
  // Before the deployment a recount would work on the former table.
  printLine(
    `next: ${deploy}, closed (docs/operations.md, section 7); recount-ledger and audit-ledger`,
  )
  printLine('of the gateway and of every client. Open the stage last: until then a sync would post')
  printLine('payments a second time')
}

/** DynamoDB accepts no change before the table and its indexes are active. */
async function waitUntilActive({ client, TableName }: TargetTable, sleep: RestoreIo['sleep']) {
  for (let poll = 0; poll < MAX_POLLS; poll++) {
    const { Table } = await client.send(new aws.DescribeTableCommand({ TableName }))
    const states = [
      Table?.TableStatus,
      ...(Table?.GlobalSecondaryIndexes ?? []).map(({ IndexStatus }) => IndexStatus),
    ]
    if (states.every((state) => state === 'ACTIVE')) return
    await sleep(POLL_MS)
  }
  throw new Error(`${TableName} is not active yet`)
}

function printLine(text: string) {
  console.log(printableLine(text))
}

const CLOSE = 'set "role": "closed" and "deployment": "alias-only" in the stage’s file, and deploy'

/**
 * Reads the versions in use: during or after a failed deployment some are older, or a queue starts
 * a worker still, which takes messages whatever its settings say.
 */
async function whyNotClosed({ lambda }: Pick<AwsClients, 'lambda'>, stage: DeployedStage) {
  const { name } = stage.settings
  if (stage.role !== 'closed') return `${name} is open: ${CLOSE} first`
  for (const spec of MANIFEST.filter(runsByItself)) {
    const FunctionName = liveName(spec, stage)
    const { Environment } = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }))
    const { isClosed } = v.parse(SettingsText, Environment?.Variables?.[ENV.settings])
    const list = new ListEventSourceMappingsCommand({ FunctionName })
    const { EventSourceMappings: queues = [] } = await lambda.send(list)
    if (!isClosed || queues.some(({ State }) => State !== 'Disabled'))
      return `${FunctionName} is still open: deploy ${name} closed`
  }
  return undefined
}

/** Restores the table, or continues an earlier call's restore of the same source. */
async function restore(
  client: aws.DynamoDBClient,
  stage: DeployedStage,
  source: Source,
  sleep: RestoreIo['sleep'],
) {
  const generation = stage.table.generation + 1
  const target = { client, stage, TableName: tableNameOf(stage, generation) }
  const ask = client.send(new aws.DescribeTableCommand({ TableName: target.TableName }))
  const existing = await unlessAbsent(['ResourceNotFoundException'], ask)
  const summary = existing?.Table?.RestoreSummary
  if (existing && hasOtherSource(summary, source)) {
    const from = summary?.SourceBackupArn ?? summary?.RestoreDateTime?.toISOString() ?? 'nothing'
    return `${target.TableName} exists, restored from ${from}: give that source, or delete the table if nothing uses it`
  }
  if (existing) printLine(`${target.TableName} exists: continuing with it`)
  else await beginRestore(target, source)
  const deploy = `set "generation": ${generation} in ${stage.settings.name}’s file and deploy`
  return completeTable(target, sleep, deploy)
}

/** A copy of another time, or a table that no restore made. */
function hasOtherSource(restored: aws.RestoreSummary | undefined, source: Source) {
  return 'at' in source
    ? secondOf(restored?.RestoreDateTime) !== secondOf(source.at)
    : restored?.SourceBackupArn !== source.backup
}

function secondOf(time: Date | undefined) {
  return Math.floor(Number(time) / SECOND_MS)
}

async function beginRestore(
  { client, stage, TableName: TargetTableName }: TargetTable,
  source: Source,
) {
  const input = { TargetTableName, SSESpecificationOverride: encryptionOf(stage) }
  if ('at' in source) {
    const from = { SourceTableName: tableNameOf(stage), RestoreDateTime: source.at }
    await client.send(new aws.RestoreTableToPointInTimeCommand({ ...input, ...from }))
  } else
    await client.send(new aws.RestoreTableFromBackupCommand({ ...input, BackupArn: source.backup }))
  printLine(`${TargetTableName} is being restored; this takes minutes, or hours for a large table`)
}
