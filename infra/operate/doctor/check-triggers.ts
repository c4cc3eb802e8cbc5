import { type CloudFormationClient, DetectStackResourceDriftCommand } from '@aws-sdk/client-cloudformation'
import { DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { type EventSourceMappingConfiguration, GetEventSourceMappingCommand } from '@aws-sdk/client-lambda'
import * as v from 'valibot'
import { nameOfResource, pointedTo, type StageTemplate, type TemplateResource } from '../../stack/stage-template.ts'
import type { AwsClients } from '../check/aws-clients.ts'
import { deployedResourceId } from '../check/deployed-stack.ts'
import { type Finding, ok, unclear, wrong } from '../check/finding.ts'
import { look, unlessAbsent } from '../check/look.ts'
import { compareSettings } from './compare.ts'

type Clients = Pick<AwsClients, 'cloudFormation' | 'dynamodb' | 'lambda'>

const MappingProperties = v.object({
  EventSourceArn: v.unknown(),
  BatchSize: v.number(),
  ScalingConfig: v.optional(v.object({ MaximumConcurrency: v.number() })),
  FunctionResponseTypes: v.optional(v.array(v.string()), []),
})

/** Whether what waits in queues and in the table's stream is read, and how. */
export const checkEventSources = async (clients: Clients, template: StageTemplate): Promise<readonly Finding[]> => {
  const found = await Promise.all(
    template.ofType('AWS::Lambda::EventSourceMapping').map((mapping) => {
      const source = template.resources.find(
        ({ logicalId }) => logicalId === pointedTo(mapping.properties['EventSourceArn']),
      )
      const what = `event source ${nameOfSource(source) ?? mapping.logicalId}`
      return look(what, () => checkMapping(clients, { what, mapping, source, stackName: template.stackName }))
    }),
  )
  return found.flat()
}

const nameOfSource = (source: TemplateResource | undefined): string | undefined => {
  const name = source?.properties['QueueName'] ?? source?.properties['TableName']
  return typeof name === 'string' ? name : undefined
}

type MappingToCheck = {
  readonly what: string
  readonly mapping: TemplateResource
  /** The queue or the table that it reads. */
  readonly source: TemplateResource | undefined
  readonly stackName: string
}

const checkMapping = async (
  { cloudFormation, dynamodb, lambda }: Clients,
  { what, mapping, source, stackName }: MappingToCheck,
): Promise<Finding> => {
  const expected = v.parse(MappingProperties, mapping.properties)
  const UUID = await deployedResourceId(cloudFormation, { stackName, logicalId: mapping.logicalId })
  const found = UUID === undefined ? undefined : await mappingOf(lambda, UUID)
  if (!found) return wrong(what, 'is missing', 'npm run deploy')
  if (source?.type === 'AWS::DynamoDB::GlobalTable') {
    const stream = await streamOf(dynamodb, nameOfSource(source))
    if (found.EventSourceArn !== stream) {
      return wrong(
        what,
        `reads ${found.EventSourceArn ?? 'nothing'}, not the table's stream ${stream ?? '(it has none)'}`,
        RESTORED,
      )
    }
  }
  return (
    broken(what, found) ??
    compareSettings(
      what,
      [
        ['state', 'Enabled', found.State],
        ['batch size', expected.BatchSize, found.BatchSize],
        ['most concurrency', expected.ScalingConfig?.MaximumConcurrency, found.ScalingConfig?.MaximumConcurrency],
        ['partial batches', expected.FunctionResponseTypes, found.FunctionResponseTypes ?? []],
      ],
      `enabled, ${found.LastProcessingResult ?? 'nothing read yet'}`,
    )
  )
}

/** A table that was restored has a new stream, and the stack's event source goes on reading the old one. */
const RESTORED = 'docs/operations.md, "7. Restoring the table in place", step 7'

const streamOf = async (dynamodb: DynamoDBClient, TableName: string | undefined): Promise<string | undefined> =>
  (await dynamodb.send(new DescribeTableCommand({ TableName }))).Table?.LatestStreamArn

/** Lambda says it of streams alone, until a batch goes well again. */
const broken = (
  what: string,
  { LastProcessingResult: result }: EventSourceMappingConfiguration,
): Finding | undefined =>
  result?.startsWith('PROBLEM') === true
    ? wrong(what, `the last batch: ${result}`, 'look into the log of the function that reads it')
    : undefined

const mappingOf = async (lambda: Clients['lambda'], UUID: string) =>
  unlessAbsent(['ResourceNotFoundException'], lambda.send(new GetEventSourceMappingCommand({ UUID })))

/** Whether the clock starts what it must: CloudFormation compares each rule, its state included, with the template. */
export const checkSchedules = async (
  { cloudFormation }: Pick<Clients, 'cloudFormation'>,
  template: StageTemplate,
): Promise<readonly Finding[]> => {
  const found = await Promise.all(
    template.ofType('AWS::Events::Rule').map((rule) => {
      const { logicalId } = rule
      const what = `schedule ${nameOfResource(rule, 'Name')}`
      return look(what, () => checkRule(cloudFormation, { what, logicalId, stackName: template.stackName }))
    }),
  )
  return found.flat()
}

const checkRule = async (
  client: CloudFormationClient,
  { what, logicalId, stackName }: { readonly what: string; readonly logicalId: string; readonly stackName: string },
): Promise<Finding> => {
  const { StackResourceDrift: drift } = await client.send(
    new DetectStackResourceDriftCommand({ StackName: stackName, LogicalResourceId: logicalId }),
  )
  const status = drift?.StackResourceDriftStatus
  if (status === 'IN_SYNC') return ok(what, 'enabled, as deployed')
  if (status === 'DELETED') return wrong(what, 'is missing', 'npm run deploy')
  const changed = (drift?.PropertyDifferences ?? []).map(
    ({ PropertyPath: path = '?', ActualValue: actual = '?', ExpectedValue: expected = '?' }) =>
      `${path.replace(/^\//, '')} is ${actual}, should be ${expected}`,
  )
  return changed.length > 0
    ? wrong(what, changed.join('; '), 'aws events enable-rule, or correct it as the template says')
    : unclear(what, 'CloudFormation cannot compare it', 'look at the rule in the console')
}
