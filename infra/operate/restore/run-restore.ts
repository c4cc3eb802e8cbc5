import * as aws from '@aws-sdk/client-dynamodb'
import { GetFunctionConfigurationCommand } from '@aws-sdk/client-lambda'
import * as v from 'valibot'
import { isHttp } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { ENV, SettingsText } from '../../../shared/runtime/config.ts'
import { parseForeignTime, SECOND_MS } from '../../../shared/time.ts'
import { readOptions, runCommand, UsageError } from '../../local/terminal/command-line.ts'
import { printable } from '../../local/terminal/printable.ts'
import { liveName, stackNameOf, tableNameOf } from '../../stack/stack-name-of.ts'
import type { DeployedStage } from '../../stack/stage.ts'
import { encryptsAll } from '../../stack/storage/stage-key.ts'
import { type AwsClients, awsClients } from '../check/aws-clients.ts'
import { errorName, remedyFor, unlessAbsent } from '../check/finding.ts'
import { regionNamed } from '../check/stage-named.ts'
import { missingSettings, type Wanted } from './missing-settings.ts'

const USAGE = `npm run restore -- --stage NAME (--at TIME | --backup ARN | --finish)

Restores the table of a closed stage as its next generation. The table in use stays as it is.
  --at TIME      restores the table in use to this time (RFC 3339, at most 35 days ago)
  --backup ARN   restores a backup of DynamoDB in this region
  --finish       restores nothing: sets on the stage's table what a restore omits (protection, TTL, tags)
  --help, -h     this text
Run the same command again to continue after a failure.
Exit code: 0 done, 1 not done, 2 wrong arguments.`

const OPTIONS = {
  stage: { type: 'string' },
  at: { type: 'string' },
  backup: { type: 'string' },
  finish: { type: 'boolean', default: false },
} as const

const POLL_MS = 10_000
/** Twelve hours. The restore continues on AWS, and the same command follows it again. */
const MAX_POLLS = 4_320

export type RestoreIo = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly sleep: (ms: number) => Promise<unknown>
  readonly stageNamed: (name: string | undefined) => DeployedStage
}

type Source = { readonly at: Date } | { readonly backup: string }

/**
 * Restores the stage's table as its next generation, and sets what a restore does not carry (design section 13). Refused
 * while the stage takes traffic, because payments after the restored time would be missing in its books.
 */
export function runRestore(argv: readonly string[], io: RestoreIo): Promise<number> {
  return runCommand(USAGE, argv, async () => {
    const { stage: name, at, backup, finish } = readOptions(argv, OPTIONS)
    const stage = io.stageNamed(name)
    if ([at, backup, finish || undefined].filter((one) => one !== undefined).length !== 1) {
      throw new UsageError('give one of --at TIME, --backup ARN and --finish')
    }
    const source = backup === undefined ? timeOf(at) : { backup }
    const clients = awsClients(await regionNamed(io.env))
    try {
      if (source === undefined) {
        await complete({ client: clients.dynamodb, stage, TableName: tableNameOf(stage) }, io.sleep)
        return 0
      }
      const refused =
        (await whyNotClosed(clients, stage)) ??
        (await restore(clients.dynamodb, stage, source, io.sleep))
      if (refused === undefined) return 0
      console.error(printable(refused))
      return 1
    } catch (error) {
      console.error(
        printable(
          `${errorName(error)}: ${remedyFor(error)}. Run the same command again to continue.`,
        ),
      )
      return 1
    }
  })
}

function timeOf(at: string | undefined): Source | undefined {
  if (at === undefined) return undefined
  const time = parseForeignTime(at)
  if (time === undefined)
    throw new UsageError('--at must be an RFC 3339 time such as 2026-11-20T04:00:00Z')
  return { at: new Date(time) }
}

async function complete(wanted: Wanted, sleep: RestoreIo['sleep']): Promise<void> {
  await untilActive(wanted, sleep)
  for (const { what, put } of await missingSettings(wanted)) {
    await put()
    await untilActive(wanted, sleep)
    say(`${wanted.TableName}: ${what} set`)
  }
  say(`${wanted.TableName} is as the stage’s file says`)
}

/** Waits for the table and its indexes, because DynamoDB accepts no change before. */
async function untilActive({ client, TableName }: Wanted, sleep: RestoreIo['sleep']) {
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

function say(text: string): void {
  console.log(printable(text))
}

const CLOSE = 'set "role": "closed" and "deployment": "alias-only" in the stage’s file, and deploy'

/** Reads the version that serves requests. During or after a failed deployment the alias serves an older one. */
async function whyNotClosed({ lambda }: Pick<AwsClients, 'lambda'>, stage: DeployedStage) {
  const { name } = stage.settings
  if (stage.role !== 'closed') return `${name} is open: ${CLOSE} first`
  const [FunctionName] = MANIFEST.filter(isHttp).map((spec) => liveName(spec, stage))
  const { Environment } = await lambda.send(new GetFunctionConfigurationCommand({ FunctionName }))
  const { isClosed } = v.parse(SettingsText, Environment?.Variables?.[ENV.settings])
  return isClosed === true ? undefined : `${name} still takes traffic: deploy it closed`
}

/** Continues a restore that an earlier call began. Answers why not, if that call had another source. */
async function restore(
  client: aws.DynamoDBClient,
  stage: DeployedStage,
  source: Source,
  sleep: RestoreIo['sleep'],
) {
  const generation = stage.table.generation + 1
  const wanted = { client, stage, TableName: tableNameOf(stage, generation) }
  const ask = client.send(new aws.DescribeTableCommand({ TableName: wanted.TableName }))
  const there = await unlessAbsent(['ResourceNotFoundException'], ask)
  const summary = there?.Table?.RestoreSummary
  if (there && isFromElsewhere(summary, source)) {
    const from = summary?.SourceBackupArn ?? summary?.RestoreDateTime?.toISOString() ?? 'nothing'
    return `${wanted.TableName} exists, restored from ${from}: give that source, or delete the table if nothing uses it`
  }
  if (there) say(`${wanted.TableName} exists: continuing with it`)
  else await begin(wanted, source)
  await complete(wanted, sleep)
  const file = `${stage.settings.name}’s file`
  say(`Next: set "generation": ${generation} in ${file} and deploy (docs/operations.md, section 7)`)
  return undefined
}

/** Whether the table is no copy of the source: another time's, or a table that no restore made. */
function isFromElsewhere(restored: aws.RestoreSummary | undefined, source: Source) {
  return 'at' in source
    ? secondOf(restored?.RestoreDateTime) !== secondOf(source.at)
    : restored?.SourceBackupArn !== source.backup
}

function secondOf(time: Date | undefined) {
  return Math.floor(Number(time) / SECOND_MS)
}

async function begin({ client, stage, TableName: TargetTableName }: Wanted, source: Source) {
  const SSESpecificationOverride = encryptsAll(stage)
    ? ({ Enabled: true, SSEType: 'KMS', KMSMasterKeyId: `alias/${stackNameOf(stage)}` } as const)
    : undefined
  const target = { TargetTableName, SSESpecificationOverride }
  if ('at' in source) {
    const from = { SourceTableName: tableNameOf(stage), RestoreDateTime: source.at }
    await client.send(new aws.RestoreTableToPointInTimeCommand({ ...target, ...from }))
  } else
    await client.send(
      new aws.RestoreTableFromBackupCommand({ ...target, BackupArn: source.backup }),
    )
  say(`${TargetTableName} is being restored; this takes minutes, or hours for a large table`)
}
