import {
  type CloudFormationClient,
  DescribeStackResourceCommand,
  DescribeStacksCommand,
  type Stack,
} from '@aws-sdk/client-cloudformation'

/** A stack that never came to be: the next deployment begins by deleting what is left of it. */
const NEVER_CREATED: readonly (string | undefined)[] = [
  'REVIEW_IN_PROGRESS',
  'ROLLBACK_COMPLETE',
  'ROLLBACK_FAILED',
  'DELETE_COMPLETE',
]

/** CloudFormation has no error of its own for a stack that is not there. */
const isAbsent = (error: unknown): boolean =>
  error instanceof Error && error.name === 'ValidationError' && /does not exist/.test(error.message)

/** The stack, whatever became of it; undefined when there is none. */
export const describedStack = async (client: CloudFormationClient, stackName: string): Promise<Stack | undefined> => {
  try {
    const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName: stackName }))
    return stack
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}

export const wasCreated = ({ StackStatus }: Pick<Stack, 'StackStatus'>): boolean => !NEVER_CREATED.includes(StackStatus)

export const outputOf = (stack: Stack | undefined, name: string): string | undefined =>
  stack?.Outputs?.find(({ OutputKey }) => OutputKey === name)?.OutputValue

/** What AWS calls a resource of the stack: a queue's URL, a topic's ARN, a mapping's UUID. Undefined when there is none. */
export const deployedResourceId = async (
  client: CloudFormationClient,
  { stackName, logicalId }: { readonly stackName: string; readonly logicalId: string },
): Promise<string | undefined> => {
  try {
    const { StackResourceDetail: detail } = await client.send(
      new DescribeStackResourceCommand({ StackName: stackName, LogicalResourceId: logicalId }),
    )
    return detail?.PhysicalResourceId
  } catch (error) {
    if (isAbsent(error)) return undefined
    throw error
  }
}
