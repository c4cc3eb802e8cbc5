import * as aws from '@aws-sdk/client-sqs'
import { QUEUE_NAMES } from '../../../shared/queues.ts'
import { readOptions, runCommand, UsageError, wholeNumber } from '../../local/terminal/command-line.ts'
import { printable, printableLines } from '../../local/terminal/printable.ts'
import { stackNameOf } from '../../stack/stack-name-of.ts'
import { awsClients } from '../check/aws-clients.ts'
import { errorName, remedyFor } from '../check/finding.ts'
import { regionNamed, stageNamed } from '../check/stage-named.ts'

const USAGE = `npm run redrive -- --stage NAME [--queue NAME] [--peek | --purge-confirmed] [--per-second N]

Without --queue: every dead-letter queue and how many messages wait in it.
With one: moves its messages back to the queue they came from and follows until it is done.
  --peek               show a few messages' ids, and delete nothing
  --purge-confirmed    delete what has no queue to go back to (failed runs of schedules); you looked first
  --per-second N       messages a second, 1 to 500; 20 when not given
  --help, -h           this text
Exit code: 0 done, 1 not done, 2 called wrongly.`

const OPTIONS = {
  stage: { type: 'string' },
  queue: { type: 'string' },
  peek: { type: 'boolean', default: false },
  'purge-confirmed': { type: 'boolean', default: false },
  'per-second': { type: 'string', default: '20' },
} as const

/** Every dead-letter queue; of those whose messages have no queue to go back to, what has happened instead. */
export const DEAD_LETTERS: ReadonlyMap<string, string | undefined> = new Map([
  ...QUEUE_NAMES.map((name) => [name, undefined] as const),
  ['schedules', 'runs that failed or never began: the next one saw the same work. Cause: log of the function'],
])

const POLL_MS = 2_000
/** Half an hour. The move goes on without us, and the next call of this tool follows it again. */
const MAX_POLLS = 900

export type RedriveIo = {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly sleep: (ms: number) => Promise<unknown>
  /** Undefined: the operator's own account. */
  readonly sqs?: aws.SQSClient
}

type Queue = { readonly sqs: aws.SQSClient; readonly url: string; readonly arn: string; readonly waiting: number }

const say = (text: string): void => console.log(printableLines(text))

/** Shows what was set aside, and moves it back. Twice or too early does no harm: workers ask the table what is left to do. */
export const runRedrive = (argv: readonly string[], io: RedriveIo): Promise<number> =>
  runCommand(USAGE, argv, async () => {
    const { stage, queue: name, peek, 'purge-confirmed': purge, 'per-second': speed } = readOptions(argv, OPTIONS)
    const prefix = stackNameOf(stageNamed(stage))
    const perSecond = wholeNumber(speed) ?? 0
    if (perSecond < 1 || perSecond > 500) throw new UsageError('--per-second must be a whole number from 1 to 500')
    if (peek && purge) throw new UsageError('give --peek or --purge-confirmed, not both')
    if (purge && name === undefined) throw new UsageError('--purge-confirmed needs --queue NAME')
    const names = [...DEAD_LETTERS.keys()]
    if (name !== undefined && !names.includes(name)) {
      throw new UsageError(`there is no such dead-letter queue; there are: ${names.join(', ')}`)
    }
    const instead = DEAD_LETTERS.get(name ?? '')
    if (purge && instead === undefined) throw new UsageError('messages of this queue are not deleted: move them back')
    const { sqs = awsClients(await regionNamed(io.env)).sqs } = io
    try {
      if (name === undefined) {
        for (const one of names) await stateOf(sqs, prefix, one)
        return 0
      }
      const queue = await stateOf(sqs, prefix, name)
      if (peek) return await showSome(queue)
      if (queue.waiting === 0) return 0
      if (instead === undefined) return await moveBack(queue, perSecond, io.sleep)
      say(purge ? 'deleting them; SQS takes up to a minute' : `${instead}. When you have looked: --purge-confirmed`)
      if (purge) await sqs.send(new aws.PurgeQueueCommand({ QueueUrl: queue.url }))
      return purge ? 0 : 1
    } catch (error) {
      console.error(printableLines(`${errorName(error)}: ${remedyFor(error)}`))
      return 1
    }
  })

const stateOf = async (sqs: aws.SQSClient, prefix: string, name: string): Promise<Queue> => {
  const { QueueUrl: url = '' } = await sqs.send(new aws.GetQueueUrlCommand({ QueueName: `${prefix}-${name}-dead` }))
  const { Attributes: found } = await sqs.send(
    new aws.GetQueueAttributesCommand({ QueueUrl: url, AttributeNames: ['QueueArn', 'ApproximateNumberOfMessages'] }),
  )
  const waiting = Number(found?.['ApproximateNumberOfMessages'] ?? 0)
  say(`${name}: ${waiting} waiting`)
  return { sqs, url, arn: found?.['QueueArn'] ?? '', waiting }
}

/** A few messages. They are hidden from others for no time at all, and stay where they are. */
const showSome = async ({ sqs, url: QueueUrl }: Queue): Promise<0> => {
  const limits = { MaxNumberOfMessages: 10, VisibilityTimeout: 0 }
  const { Messages: messages = [] } = await sqs.send(
    new aws.ReceiveMessageCommand({ QueueUrl, ...limits, MessageSystemAttributeNames: ['SentTimestamp'] }),
  )
  for (const { MessageId: id = '?', Attributes: attributes, Body: body = '' } of messages) {
    const sentAt = new Date(Number(attributes?.['SentTimestamp'] ?? 0)).toISOString()
    say(['', id, `sent ${sentAt}`, ...idsIn(body)].map(printable).join('  '))
  }
  return 0
}

/** Ids of entities: fields whose names end in `id`, two levels deep. A body may hold anything else. */
const idsIn = (body: string): readonly string[] => {
  try {
    return fieldsOf(JSON.parse(body))
      .flatMap(([name, value]) => [[name, value] as const, ...fieldsOf(value)])
      .filter(([name, value]) => /(^|_|[a-z])id$/i.test(name) && ['string', 'number'].includes(typeof value))
      .map(([name, value]) => `${name}=${String(value)}`)
  } catch {
    return []
  }
}

const fieldsOf = (value: unknown): readonly (readonly [string, unknown])[] => Object.entries(Object(value))

/** Moves every message back to the queue it came from, and follows until it is done. Joins a move that is under way. */
const moveBack = async ({ sqs, arn }: Queue, perSecond: number, sleep: RedriveIo['sleep']): Promise<0 | 1> => {
  const list = new aws.ListMessageMoveTasksCommand({ SourceArn: arn, MaxResults: 1 })
  const latest = async () => (await sqs.send(list)).Results?.[0]
  if ((await latest())?.Status === 'RUNNING') say('a move is under way already')
  else await sqs.send(new aws.StartMessageMoveTaskCommand({ SourceArn: arn, MaxNumberOfMessagesPerSecond: perSecond }))
  for (let poll = 0; poll < MAX_POLLS; poll++) {
    await sleep(POLL_MS)
    const task = await latest()
    say(`${task?.ApproximateNumberOfMessagesMoved ?? 0} of ${task?.ApproximateNumberOfMessagesToMove ?? '?'} moved`)
    if (task?.Status === 'COMPLETED') return 0
    if (task?.Status !== 'RUNNING') {
      say(`the move ended as ${task?.Status ?? 'unknown'}: ${task?.FailureReason ?? 'no reason given'}`)
      return 1
    }
  }
  say('it goes on without this tool; call it again to follow')
  return 1
}
