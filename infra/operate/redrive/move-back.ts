import { ListMessageMoveTasksCommand, type SQSClient, StartMessageMoveTaskCommand } from '@aws-sdk/client-sqs'

export type MoveOptions = {
  readonly arn: string
  /** So many a second at most: what made them fail once may not take all of them at once. */
  readonly perSecond: number
  readonly say: (text: string) => void
  readonly sleep: (ms: number) => Promise<void>
}

const POLL_MS = 2_000
/** Half an hour. The task goes on without us, and the next call of this tool follows it again. */
const MAX_POLLS = 900

/** Moves every message back to the queue it came from, and follows until it is done. Joins a move that is under way. */
export const moveBack = async (
  sqs: SQSClient,
  { arn, perSecond, say, sleep }: MoveOptions,
): Promise<'done' | 'failed' | 'still running'> => {
  if ((await latestTask(sqs, arn))?.Status === 'RUNNING') say('a move is under way already')
  else await sqs.send(new StartMessageMoveTaskCommand({ SourceArn: arn, MaxNumberOfMessagesPerSecond: perSecond }))
  for (let poll = 0; poll < MAX_POLLS; poll++) {
    await sleep(POLL_MS)
    const task = await latestTask(sqs, arn)
    say(`${task?.ApproximateNumberOfMessagesMoved ?? 0} of ${task?.ApproximateNumberOfMessagesToMove ?? '?'} moved`)
    if (task?.Status === 'COMPLETED') return 'done'
    if (task?.Status !== 'RUNNING') {
      say(`the move ended as ${task?.Status ?? 'unknown'}${task?.FailureReason ? `: ${task.FailureReason}` : ''}`)
      return 'failed'
    }
  }
  return 'still running'
}

const latestTask = async (sqs: SQSClient, SourceArn: string) => {
  const { Results: [task] = [] } = await sqs.send(new ListMessageMoveTasksCommand({ SourceArn, MaxResults: 1 }))
  return task
}
