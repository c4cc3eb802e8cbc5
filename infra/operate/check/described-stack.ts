import { type CloudFormationClient, DescribeStacksCommand, type Stack } from '@aws-sdk/client-cloudformation'

/** The stack in any state; undefined when there is none, for which CloudFormation has no error of its own. */
export const describedStack = async (client: CloudFormationClient, StackName: string): Promise<Stack | undefined> => {
  try {
    return (await client.send(new DescribeStacksCommand({ StackName }))).Stacks?.[0]
  } catch (error) {
    if (error instanceof Error && error.name === 'ValidationError' && /does not exist/.test(error.message))
      return undefined
    throw error
  }
}

/** False of a stack that never came to be: the next deployment begins by deleting what is left of it. */
export const wasCreated = ({ StackStatus: status }: Pick<Stack, 'StackStatus'>): boolean =>
  !['REVIEW_IN_PROGRESS', 'ROLLBACK_COMPLETE', 'ROLLBACK_FAILED', 'DELETE_COMPLETE'].includes(status ?? '')

export const outputOf = (stack: Stack, name: string): string | undefined =>
  stack.Outputs?.find(({ OutputKey }) => OutputKey === name)?.OutputValue
