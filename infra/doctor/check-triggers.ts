import { type CloudFormationClient, DetectStackResourceDriftCommand } from '@aws-sdk/client-cloudformation'
import { GetEventSourceMappingCommand } from '@aws-sdk/client-lambda'
import * as v from 'valibot'
import type { AwsClients } from '../check/aws-clients.ts'
import { deployedResourceId } from '../check/deployed-stack.ts'
import { type Finding, ok, unclear, wrong } from '../check/finding.ts'
import { look, unlessAbsent } from '../check/look.ts'
import { nameOfResource, pointedTo, type StageTemplate, type TemplateResource } from '../stage-template.ts'
import { compareSettings } from './compare.ts'

type Clients = Pick<AwsClients, 'cloudFormation' | 'lambda'>

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
      const what = `event source ${sourceName(mapping, template)}`
      return look(what, () => checkMapping(clients, { what, mapping, stackName: template.stackName }))
    }),
  )
  return found.flat()
}

const sourceName = ({ properties, logicalId }: TemplateResource, { resources }: StageTemplate): string => {
  const source = resources.find((resource) => resource.logicalId === pointedTo(properties['EventSourceArn']))
  const name = source?.properties['QueueName'] ?? source?.properties['TableName']
  return typeof name === 'string' ? name : logicalId
}

const checkMapping = async (
  { cloudFormation, lambda }: Clients,
  {
    what,
    mapping,
    stackName,
  }: { readonly what: string; readonly mapping: TemplateResource; readonly stackName: string },
): Promise<Finding> => {
  const expected = v.parse(MappingProperties, mapping.properties)
  const UUID = await deployedResourceId(cloudFormation, { stackName, logicalId: mapping.logicalId })
  const found = UUID === undefined ? undefined : await mappingOf(lambda, UUID)
  if (!found) return wrong(what, 'is missing', 'npm run deploy')
  return compareSettings(
    what,
    [
      ['state', 'Enabled', found.State],
      ['batch size', expected.BatchSize, found.BatchSize],
      ['most concurrency', expected.ScalingConfig?.MaximumConcurrency, found.ScalingConfig?.MaximumConcurrency],
      ['partial batches', expected.FunctionResponseTypes, found.FunctionResponseTypes ?? []],
    ],
    `enabled, ${found.LastProcessingResult ?? 'nothing read yet'}`,
  )
}

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
