import { DescribeTableCommand } from '@aws-sdk/client-dynamodb'
import { type EventSourceMappingConfiguration, ListEventSourceMappingsCommand } from '@aws-sdk/client-lambda'
import { type FunctionSpec, functionName, type QueueSource, queuesOf } from '../../../functions/function-spec.ts'
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
  const readers = MANIFEST.flatMap((spec) => {
    const sources = sourcesOf(spec, stage).map((source) => ({ ...source, name: nameIn(table, source.queue) }))
    return sources.map(async ({ name, queue, batchSize, maxConcurrency }, at) =>
      runCheck(`event source ${name}`, async () => {
        const FunctionName = functionName(stage.settings.name, spec)
        const { EventSourceMappings: all = [] } = await lambda.send(
          new ListEventSourceMappingsCommand({ FunctionName }),
        )
        // What leads from somewhere else is held against the first.
        const isStray = (source: string | undefined) => at === 0 && !sources.some((own) => own.name === source)
        const found = all.filter((one) => queueNameOf(one) === name || isStray(queueNameOf(one)))
        if (found.length === 0) return wrong(`event source ${name}`, 'is missing', REMEDY)
        const source = queue === undefined ? await streamOf(dynamodb, table) : name
        return found.map((one) =>
          comparison(`event source ${name}`, [
            ['source', source, queue === undefined ? one.EventSourceArn : queueNameOf(one)],
            ['state', 'Enabled', one.State],
            ['batch size', batchSize, one.BatchSize],
            ['most concurrency', maxConcurrency, one.ScalingConfig?.MaximumConcurrency],
            ['partial batches', 'ReportBatchItemFailures', one.FunctionResponseTypes?.join() || undefined],
          ]),
        )
      }),
    )
  })
  return (await Promise.all(readers)).flat()
}

/** What should start a function by itself: its queues, or the stream, which is no queue. */
const sourcesOf = (
  { trigger }: FunctionSpec,
  { settings }: DeployedStage,
): readonly (Partial<QueueSource> & { readonly batchSize: number })[] =>
  trigger.kind === 'stream' ? [{ batchSize: trigger.batchSize }] : queuesOf(trigger, settings.providerCallsPerMinute)

const nameIn = (table: string, queue: string | undefined): string => (queue === undefined ? table : `${table}-${queue}`)

const queueNameOf = ({ EventSourceArn }: EventSourceMappingConfiguration) => EventSourceArn?.split(':').at(-1)

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
