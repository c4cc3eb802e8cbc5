import { describe, expect, it } from 'vitest'
import { queuesOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { type Properties, synthesised } from '../../support/stack-template.ts'

const DUE_QUEUES = ['due-payments', 'due-deliveries', 'due-alerts'] as const
const WORK_QUEUES = ['webhooks', 'webhooks-slow', 'settlements', 'sync', 'audits', ...DUE_QUEUES] as const

describe.each(['dev', 'prod'] as const)('queues of %s', (stage) => {
  const template = synthesised(stage)
  const queues = new Map(
    template
      .ofType('AWS::SQS::Queue')
      .map(({ properties }) => [String(properties['QueueName']).replace(`gateway-${stage}-`, ''), properties]),
  )
  const statements = (name: string): readonly unknown[] =>
    template
      .ofType('AWS::SQS::QueuePolicy')
      .filter(({ properties }) => [properties['Queues']].flat().includes(`<gateway-${stage}-${name}>`))
      .flatMap(({ properties }) => {
        const { Statement } = properties['PolicyDocument'] as { readonly Statement: readonly unknown[] }
        return Statement
      })

  it('hide a batch for six times the timeout of its reader, or little longer than that where a claim guards it', () => {
    const readers = MANIFEST.flatMap(({ trigger, timeoutSeconds }) =>
      queuesOf(trigger).map(({ queue }) => ({ queue, timeoutSeconds })),
    )

    expect(readers.map(({ queue }) => queue).toSorted()).toStrictEqual([...WORK_QUEUES].toSorted())
    for (const { queue, timeoutSeconds } of readers) {
      const seconds = queue.startsWith('webhooks') ? timeoutSeconds + 2 : 6 * timeoutSeconds
      expect([queue, queues.get(queue)?.['VisibilityTimeout']]).toStrictEqual([queue, seconds])
    }
  })

  it('allow nothing by their policies but the rules of the schedules, into their own dead letters', () => {
    const allowed = [...queues.keys()].flatMap((name) =>
      (statements(name) as readonly Properties[])
        .filter(({ Effect }) => Effect !== 'Deny')
        .map(({ Principal, Action, Condition }) => ({ name, Principal, Action, Condition })),
    )
    const rules = template
      .each('AWS::Events::Rule', 'Name')
      .map((name) => `arn:<AWS::Partition>:events:<AWS::Region>:<AWS::AccountId>:rule/${String(name)}`)

    expect(allowed).toStrictEqual([
      {
        name: 'schedules-dead',
        Principal: { Service: 'events.amazonaws.com' },
        Action: 'sqs:SendMessage',
        Condition: { ArnEquals: { 'aws:SourceArn': rules } },
      },
    ])
  })
})
