import { DescribeTableCommand } from '@aws-sdk/client-dynamodb'
import { type EventSourceMappingConfiguration, ListEventSourceMappingsCommand } from '@aws-sdk/client-lambda'
import { functionName } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import type { DeployedStage } from '../../stack/stage.ts'
import { stackNameOf } from '../../stack/stage-template.ts'
import type { AwsClients } from '../check/aws-clients.ts'
import { type Finding, ok, wrong } from '../check/finding.ts'
import { look } from '../check/look.ts'

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
    const name = trigger.kind === 'queue' ? `${table}-${trigger.queue}` : table
    return look(`event source ${name}`, async () => {
      const FunctionName = functionName(stage.settings.name, spec)
      const { EventSourceMappings: found = [] } = await lambda.send(
        new ListEventSourceMappingsCommand({ FunctionName }),
      )
      const expected = {
        source: trigger.kind === 'queue' ? name : await streamOf(dynamodb, table),
        state: 'Enabled',
        'batch size': trigger.batchSize,
        'most concurrency': trigger.kind === 'queue' ? trigger.maxConcurrency : undefined,
        'partial batches': 'ReportBatchItemFailures',
      }
      return (found.length > 0 ? found : [undefined]).map((one) => sourceFinding(`event source ${name}`, expected, one))
    })
  })
  return (await Promise.all(readers)).flat()
}

const streamOf = async (dynamodb: AwsClients['dynamodb'], TableName: string): Promise<string | undefined> =>
  (await dynamodb.send(new DescribeTableCommand({ TableName }))).Table?.LatestStreamArn

const TODO =
  'make it as infra/stack/triggers/event-sources.ts says; after a restore: docs/operations.md, "7. Restoring the table in place", step 7'

type Setting = string | number | undefined

const sourceFinding = (
  what: string,
  expected: Readonly<Record<string, Setting>>,
  found: EventSourceMappingConfiguration | undefined,
): Finding => {
  if (!found) return wrong(what, 'is missing', TODO)
  const { EventSourceArn: arn = 'nothing' } = found
  const actual = new Map<string, Setting>([
    ['source', arn.startsWith('arn:aws:sqs:') ? arn.split(':').at(-1) : arn],
    ['state', found.State],
    ['batch size', found.BatchSize],
    ['most concurrency', found.ScalingConfig?.MaximumConcurrency],
    ['partial batches', found.FunctionResponseTypes?.join()],
  ])
  const different = Object.entries(expected).filter(([setting, value]) => actual.get(setting) !== value)
  if (different.length === 0) return ok(what, `enabled, ${found.LastProcessingResult ?? 'nothing read yet'}`)
  const details = different.map(([setting, value]) => `${setting} is ${actual.get(setting)}, should be ${value}`)
  return wrong(what, details.join('; '), TODO)
}
