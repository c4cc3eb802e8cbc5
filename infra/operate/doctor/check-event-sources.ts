import { DescribeTableCommand } from '@aws-sdk/client-dynamodb'
import { ListEventSourceMappingsCommand } from '@aws-sdk/client-lambda'
import { functionName } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { stackNameOf } from '../../stack/stack-name-of.ts'
import type { DeployedStage } from '../../stack/stage.ts'
import type { AwsClients } from '../check/aws-clients.ts'
import { type Finding, ok, wrong } from '../check/finding.ts'
import { runCheck } from '../check/run-check.ts'

/**
 * Whether what waits in queues and in the table's stream is read, and how. CloudFormation compares no event sources, and
 * goes on knowing the former stream of a table that was restored.
 */
export const checkEventSources = async (
  { dynamodb, lambda }: Pick<AwsClients, 'dynamodb' | 'lambda'>,
  stage: DeployedStage,
): Promise<readonly Finding[]> => {
  const table = stackNameOf(stage)
  const readers = MANIFEST.map(async (spec) => {
    const { trigger } = spec
    if (trigger.kind !== 'queue' && trigger.kind !== 'stream') return []
    const isQueue = trigger.kind === 'queue'
    const name = isQueue ? `${table}-${trigger.queue}` : table
    return runCheck(`event source ${name}`, async () => {
      const FunctionName = functionName(stage.settings.name, spec)
      const { EventSourceMappings: found = [] } = await lambda.send(
        new ListEventSourceMappingsCommand({ FunctionName }),
      )
      if (found.length === 0) return wrong(`event source ${name}`, 'is missing', REMEDY)
      const source = isQueue ? name : await streamOf(dynamodb, table)
      return found.map((one) =>
        comparison(`event source ${name}`, [
          ['source', source, isQueue ? one.EventSourceArn?.split(':').at(-1) : one.EventSourceArn],
          ['state', 'Enabled', one.State],
          ['batch size', trigger.batchSize, one.BatchSize],
          ['most concurrency', isQueue ? trigger.maxConcurrency : undefined, one.ScalingConfig?.MaximumConcurrency],
          ['partial batches', 'ReportBatchItemFailures', one.FunctionResponseTypes?.join() || undefined],
        ]),
      )
    })
  })
  return (await Promise.all(readers)).flat()
}

const streamOf = async (dynamodb: AwsClients['dynamodb'], TableName: string): Promise<string | undefined> =>
  (await dynamodb.send(new DescribeTableCommand({ TableName }))).Table?.LatestStreamArn

const REMEDY =
  'make it as infra/stack/triggers/event-sources.ts says; after a restore: docs/operations.md, "7. Restoring the table in place", step 7'

type Setting = string | number | undefined

const comparison = (what: string, settings: readonly (readonly [string, expected: Setting, actual: Setting])[]) => {
  const different = settings
    .filter(([, expected, actual]) => actual !== expected)
    .map(([setting, expected = 'not set', actual = 'not set']) => `${setting} is ${actual}, should be ${expected}`)
  return different.length === 0 ? ok(what, 'enabled, as deployed') : wrong(what, different.join('; '), REMEDY)
}
