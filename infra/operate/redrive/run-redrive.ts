import { PurgeQueueCommand, type SQSClient } from '@aws-sdk/client-sqs'
import { UsageError } from '../../local/terminal/command-line.ts'
import { onTerminal, printable } from '../../local/terminal/printable.ts'
import { stageTemplate } from '../../stack/stage-template.ts'
import { alignedRows } from '../admin/text-table.ts'
import { errorName, QUEUE_ABSENT, remedyFor } from '../check/look.ts'
import { NO_REGION, regionOf } from '../check/region.ts'
import { stageNamed } from '../deploy/check-stage.ts'
import { type DeadLetterQueue, deadLetterQueues } from './dead-letter-queues.ts'
import { moveBack } from './move-back.ts'
import { type PeekedMessage, peek, type QueueState, stateOf } from './peek.ts'
import { parseRedriveCommand, REDRIVE_HELP, type RedriveCommand } from './redrive-command.ts'

export type RedriveIo = {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  readonly sleep: (ms: number) => Promise<void>
  readonly nowMs: () => number
  readonly connect: (region: string) => SQSClient
}

/** Why what is in these queues is not moved, and what has happened instead. */
const INSTEAD = {
  records:
    'These are positions in the stream, not events. Every event row has due work of its own: check-due-work announces it\n' +
    'within minutes, whatever the stream lost. Look at the log of fan-out-events for the cause.',
  invocations:
    'These are runs that failed or were never started. The next run of the schedule saw the same work as it was then.\n' +
    'Look at the log of the function for the cause; `npm run admin -- <function> --stage ...` runs it at once.',
} as const

/** Shows what was set aside, and moves it back. */
export const runRedrive = async (argv: readonly string[], given: RedriveIo): Promise<0 | 1 | 2> => {
  const io = onTerminal(given)
  try {
    const command = parseRedriveCommand(argv)
    if (command.help) {
      io.out(REDRIVE_HELP)
      return 0
    }
    return await carryOut(command, io)
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    io.err(`${error.message}\n\n${REDRIVE_HELP}`)
    return 2
  }
}

const carryOut = async (command: RedriveCommand, io: RedriveIo): Promise<0 | 1 | 2> => {
  const named = stageNamed(command.stage)
  if (named.stage === undefined) throw new UsageError(named.finding.detail)
  const region = await regionOf(io.env)
  if (region === undefined) throw new UsageError(NO_REGION)
  const queues = deadLetterQueues(stageTemplate(named.stage))
  const sqs = io.connect(region)
  try {
    return command.queue === undefined ? await showAll(sqs, queues, io) : await handle(sqs, queues, command, io)
  } catch (error) {
    const name = errorName(error)
    io.err(
      QUEUE_ABSENT.includes(name)
        ? `stage ${command.stage} has no such queue in ${region}: npm run deploy -- --stage ${command.stage}, or set AWS_REGION and AWS_PROFILE to where it is`
        : `${name}: ${remedyFor(error)}`,
    )
    return 1
  }
}

const showAll = async (sqs: SQSClient, queues: readonly DeadLetterQueue[], io: RedriveIo): Promise<0> => {
  const rows = await Promise.all(
    queues.map(async ({ name, queueName, holds }) => {
      const { waiting } = await stateOf(sqs, queueName)
      return [name, `${waiting} waiting`, holds]
    }),
  )
  io.out(alignedRows(rows, ''))
  return 0
}

const handle = async (
  sqs: SQSClient,
  queues: readonly DeadLetterQueue[],
  command: RedriveCommand,
  io: RedriveIo,
): Promise<0 | 1 | 2> => {
  const queue = queues.find(({ name }) => name === command.queue)
  if (queue === undefined) {
    io.err(`there is no such dead-letter queue; there are: ${queues.map(({ name }) => name).join(', ')}`)
    return 2
  }
  if (command.purge && queue.holds === 'messages') {
    io.err('messages of this queue are not deleted: move them back')
    return 2
  }
  const state = await stateOf(sqs, queue.queueName)
  const some = state.waiting > 0 || command.peek ? await peek(sqs, state.url) : []
  io.out(`${queue.queueName}: ${state.waiting} waiting${oldest(some, io.nowMs())}`)
  if (command.peek) {
    for (const message of some) io.out(described(message))
    return 0
  }
  if (state.waiting === 0) return 0
  return queue.holds === 'messages' ? move(sqs, state, command, io) : discard(sqs, state, queue.holds, command, io)
}

/** SQS itself tells the oldest only to CloudWatch; of a few it hands out, this is the oldest. */
const oldest = (some: readonly PeekedMessage[], nowMs: number): string => {
  const times = some.map(({ sentMs }) => sentMs).filter((sentMs) => !Number.isNaN(sentMs))
  if (times.length === 0) return ''
  const minutes = Math.floor((nowMs - Math.min(...times)) / 60_000)
  return `, the oldest of ${times.length} looked at sent ${minutes} minutes ago`
}

const described = ({ messageId, ids }: PeekedMessage): string =>
  [`  ${messageId}`, ...Object.entries(ids).map(([name, id]) => `${name}=${id}`)].map(printable).join('  ')

const move = async (sqs: SQSClient, { arn }: QueueState, { perSecond }: RedriveCommand, io: RedriveIo) => {
  const outcome = await moveBack(sqs, { arn, perSecond, say: io.out, sleep: io.sleep })
  if (outcome === 'still running') io.out('it goes on without this tool; call it again to follow')
  return outcome === 'done' ? 0 : 1
}

const discard = async (
  sqs: SQSClient,
  { url }: QueueState,
  holds: keyof typeof INSTEAD,
  { purge }: RedriveCommand,
  io: RedriveIo,
) => {
  if (!purge) {
    io.out(`${INSTEAD[holds]}\nWhen you have: --purge-confirmed deletes them.`)
    return 1
  }
  await sqs.send(new PurgeQueueCommand({ QueueUrl: url }))
  io.out('deleted; SQS takes up to a minute')
  return 0
}
