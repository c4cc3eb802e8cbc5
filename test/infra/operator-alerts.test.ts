import { describe, expect, it } from 'vitest'
import { deployedStage } from '../../infra/stage.ts'
import { synthesised } from '../support/stack-template.ts'

describe.each(['dev', 'prod'] as const)('alerts topic of %s', (stage) => {
  const template = synthesised(stage)
  const [topic, ...others] = template.ofType('AWS::SNS::Topic')

  it('is one, named for its stage', () => {
    expect(topic?.properties['TopicName']).toBe(`gateway-${stage}-alerts`)
    expect(others).toStrictEqual([])
  })

  it('takes what alarms of this account publish, and refuses plain connections', () => {
    const policies = template.ofType('AWS::SNS::TopicPolicy').map(({ properties }) => properties)
    const statement = { Action: 'sns:Publish', Resource: `<gateway-${stage}-alerts>`, Sid: expect.any(String) }

    expect(policies).toStrictEqual([
      {
        Topics: [`<gateway-${stage}-alerts>`],
        PolicyDocument: {
          Version: '2012-10-17',
          Statement: [
            {
              ...statement,
              Effect: 'Deny',
              Principal: '*',
              Condition: { Bool: { 'aws:SecureTransport': 'false' } },
            },
            {
              ...statement,
              Effect: 'Allow',
              Principal: { Service: 'cloudwatch.amazonaws.com' },
              Condition: { StringEquals: { 'aws:SourceAccount': '<AWS::AccountId>' } },
            },
          ],
        },
      },
    ])
  })

  it('is encrypted by a key that alarms may use, where the stage brings one', () => {
    // AWS’s own key for topics is none that alarms can be let use, so without one there is none.
    expect(topic?.properties['KmsMasterKeyId']).toBe(stage === 'prod' ? '<key>.Arn' : undefined)
  })

  it('asks nobody by itself', () => {
    expect(template.ofType('AWS::SNS::Subscription')).toStrictEqual([])
  })
})

describe('recipients of a stage', () => {
  it('are each asked by e-mail', () => {
    const alarmRecipients = ['ops@gateway.example', 'on-call@gateway.example']

    const template = synthesised({ ...deployedStage('dev'), alarmRecipients })

    expect(template.ofType('AWS::SNS::Subscription').map(({ properties }) => properties)).toStrictEqual(
      alarmRecipients.map((Endpoint) => ({ Protocol: 'email', Endpoint, TopicArn: '<gateway-dev-alerts>' })),
    )
  })
})
