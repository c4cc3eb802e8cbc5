import { nameOfResource, pointedTo, type StageTemplate } from '../../stack/stage-template.ts'

export type DeadLetterQueue = {
  /** What an operator says: `webhooks`. */
  readonly name: string
  /** What AWS says: `gateway-prod-webhooks-dead`. */
  readonly queueName: string
  /**
   * What ends in it. `messages` of a queue can be moved back there. `records` are positions in the table's stream, and
   * `invocations` runs of a function that failed: neither has a queue to go back to, and due work has done what they
   * were for.
   */
  readonly holds: 'messages' | 'records' | 'invocations'
}

const SUFFIX = '-dead'

/** Every dead-letter queue that the stack makes, from the template: a new one needs no second list. */
export const deadLetterQueues = (template: StageTemplate): readonly DeadLetterQueue[] => {
  const queues = template.ofType('AWS::SQS::Queue')
  const fedByQueues = queues.map(({ properties }) =>
    pointedTo(inside(properties, 'RedrivePolicy', 'deadLetterTargetArn')),
  )
  const fedByStreams = template
    .ofType('AWS::Lambda::EventSourceMapping')
    .map(({ properties }) => pointedTo(inside(properties, 'DestinationConfig', 'OnFailure', 'Destination')))
  return queues
    .filter((queue) => nameOfResource(queue, 'QueueName').endsWith(SUFFIX))
    .map((queue) => {
      const queueName = nameOfResource(queue, 'QueueName')
      return {
        name: queueName.slice(`${template.stackName}-`.length, -SUFFIX.length),
        queueName,
        holds: fedByQueues.includes(queue.logicalId)
          ? 'messages'
          : fedByStreams.includes(queue.logicalId)
            ? 'records'
            : 'invocations',
      }
    })
}

const inside = (value: unknown, ...path: readonly string[]): unknown => {
  const [step, ...rest] = path
  if (step === undefined) return value
  return typeof value === 'object' && value !== null ? inside(Reflect.get(value, step), ...rest) : undefined
}
