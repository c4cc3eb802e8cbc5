import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DescribeTableCommand } from '@aws-sdk/client-dynamodb'
import { DescribeSecretCommand } from '@aws-sdk/client-secrets-manager'
import { GetQueueUrlCommand } from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import { callbackSecretName, originSecretName, providerSecretName } from '../../../shared/secrets.ts'
import { stackNameOf, tableNameOf } from '../../stack/stack-name-of.ts'
import type { DeployedStage } from '../../stack/stage.ts'
import { type AwsClients, awsClients, describedStack, GLOBAL_REGION, wasCreated } from '../check/aws-clients.ts'
import { bootstrapChecks, checkCredentials, checkDomain, checkSpareConcurrency } from '../check/check-account.ts'
import { checkSettings } from '../check/check-settings.ts'
import { type Finding, ok, QUEUE_ABSENT, runCheck, unlessAbsent, wrong } from '../check/finding.ts'
import { DEAD_LETTERS } from '../redrive/run-redrive.ts'

export type PreflightInput = {
  readonly stage: DeployedStage
  readonly region: string | undefined
  /** Passed on to `cdk deploy`. */
  readonly flags: readonly string[]
  readonly root: string
}

export type Preflight = {
  readonly findings: readonly Finding[]
  /** The stack is not there yet: some things can be done only after its first deployment. */
  readonly first: boolean
}

/**
 * What `cdk deploy` would not say at all, or only after harm is done: a stage for which production's settings are missing,
 * packages or an account by mistake, a first deployment that has to be taken back. Reads only.
 */
export const preflight = async ({ stage, region, flags, root }: PreflightInput): Promise<Preflight> => {
  const here = [...checkSettings(stage), ...(await runCheck('packages', async () => checkInstalled(root)))]
  if (region === undefined) {
    const todo = 'set AWS_REGION, or a region in the profile; for Indonesia it is ap-southeast-3'
    return { findings: [...here, wrong('region', 'none is set', todo)], first: false }
  }
  const aws = awsClients(region)
  const credentials = await checkCredentials(aws.sts, region)
  if (credentials.state !== 'ok') return { findings: [...here, credentials], first: false }
  let first = false
  const status = async (StackName: string): Promise<string | undefined> => {
    const stack = await describedStack(aws.cloudFormation, StackName)
    return stack !== undefined && wasCreated(stack) ? stack.StackStatus : undefined
  }
  const found = await Promise.all([
    ...bootstrapChecks(aws, stage, region).map(({ what, check }) => runCheck(what, check)),
    runCheck('domain', () => checkDomain(aws.route53, stage.domain)),
    runCheck('data stack', async () => {
      // One whose creation broke off holds its names itself, and is gone on with.
      const is = await status(stackNameOf(stage, 'data'))
      if (is !== undefined) return ok('data stack', `${stackNameOf(stage, 'data')} is ${is}`)
      return [ok('data stack', 'is not there yet'), ...(await checkLeftovers(aws, { stage, region, flags }))]
    }),
    runCheck('stack', async () => {
      const is = await status(stackNameOf(stage))
      first = is === undefined || is === 'CREATE_FAILED'
      if (is !== undefined) return ok('stack', `${stackNameOf(stage)} is ${is}`)
      return [ok('stack', 'is not there yet'), await checkSpareConcurrency(aws.lambda, stage)]
    }),
  ])
  return { findings: [...here, credentials, ...found.flat()], first }
}

const MAY_BE_MISSING = ['optional', 'devOptional', 'peer'] as const
const Package = v.looseObject({ version: v.optional(v.string()) })
const Lock = v.object({ packages: v.record(v.string(), Package) })

const packagesIn = (path: string) => v.parse(Lock, JSON.parse(readFileSync(path, 'utf8'))).packages

/** Whether what will be bundled and deployed is what the lock file says, to the version. */
export const checkInstalled = (root: string): Finding => {
  let installed: ReturnType<typeof packagesIn>
  try {
    installed = packagesIn(join(root, 'node_modules/.package-lock.json'))
  } catch {
    return wrong('packages', 'not installed', 'npm ci')
  }
  const [first, ...others] = Object.entries(packagesIn(join(root, 'package-lock.json'))).filter(([path, locked]) => {
    const found = installed[path]?.version
    // A package for another platform is in the lock file only; nothing else may be missing.
    if (found === undefined && MAY_BE_MISSING.some((kind) => locked[kind])) return false
    return path !== '' && found !== locked.version
  })
  if (first === undefined) return ok('packages', 'as the lock file says')
  return wrong('packages', `${1 + others.length} differ from the lock file, ${first[0]} among them`, 'npm ci')
}

/**
 * The flag of `cdk deploy` with which a stack takes over what exists under its names: the table and log groups. Never a
 * secret or a queue, whose identifiers AWS makes up (cloudformation-coverage-roadmap, issue 2375).
 */
export const IMPORT_FLAG = '--import-existing-resources'

type NewStage = { readonly stage: DeployedStage; readonly region: string; readonly flags: readonly string[] }

/**
 * What an earlier stack kept on purpose, or someone made by hand. A new stack cannot make a thing whose name is taken: it
 * says so after minutes only, and what it has made by then is in the way of the next attempt.
 */
const checkLeftovers = async (
  { dynamodb, secretsManager, globalSecretsManager, sqs }: AwsClients,
  { stage, region, flags }: NewStage,
): Promise<readonly Finding[]> => {
  const { name } = stage.settings
  const stack = stackNameOf(stage)
  const TableName = tableNameOf(stage, stage.table.adopted)
  const origin = stage.front === 'cloudfront' ? [originSecretName(name)] : []
  const queues = [...DEAD_LETTERS].flatMap(([queue, instead]) => [
    `${stack}-${queue}-dead`,
    ...(instead === undefined ? [`${stack}-${queue}`] : []),
  ])
  const found = await Promise.all([
    flags.includes(IMPORT_FLAG)
      ? []
      : taken(`table ${TableName}`, dynamodb.send(new DescribeTableCommand({ TableName })), [
          `take it over with ${IMPORT_FLAG}; if it is empty, delete it:`,
          `aws dynamodb update-table --table-name ${TableName} --no-deletion-protection-enabled &&`,
          `aws dynamodb delete-table --table-name ${TableName}`,
        ]),
    ...[providerSecretName(name), callbackSecretName(name), ...origin].map((SecretId) =>
      taken(`secret ${SecretId}`, secretsManager.send(new DescribeSecretCommand({ SecretId })), [
        'note its value, then delete it:',
        `aws secretsmanager delete-secret --secret-id ${SecretId} --force-delete-without-recovery`,
      ]),
    ),
    // The front reads a copy of it there, which outlives a region that is lost.
    ...(region === GLOBAL_REGION ? [] : origin).map((SecretId) =>
      taken(`${SecretId} in ${GLOBAL_REGION}`, globalSecretsManager.send(new DescribeSecretCommand({ SecretId })), [
        `delete it: aws secretsmanager stop-replication-to-replica --region ${GLOBAL_REGION} --secret-id ${SecretId} &&`,
        `aws secretsmanager delete-secret --region ${GLOBAL_REGION} --secret-id ${SecretId} --force-delete-without-recovery`,
      ]),
    ),
    ...queues.map((QueueName) =>
      taken(`queue ${QueueName}`, sqs.send(new GetQueueUrlCommand({ QueueName })), [
        'delete it, and wait a minute:',
        `aws sqs delete-queue --queue-url "$(aws sqs get-queue-url --queue-name ${QueueName} --output text)"`,
      ]),
    ),
  ])
  const left = found.flat()
  return left.length > 0 ? left : [ok('names', 'free')]
}

/** Secrets Manager keeps the name of a secret that someone deleted for up to 30 days. */
const taken = async (what: string, ask: Promise<unknown>, todo: readonly string[]): Promise<readonly Finding[]> => {
  const found = await unlessAbsent(['ResourceNotFoundException', ...QUEUE_ABSENT], ask)
  return found === undefined ? [] : [wrong(what, 'exists without a stack, or is yet to be deleted', todo.join(' '))]
}
