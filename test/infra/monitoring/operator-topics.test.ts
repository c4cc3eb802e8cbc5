import { describe, expect, it } from 'vitest'
import { type DeployedStage, deployedStage } from '../../../infra/stack/stage.ts'
import { synthesised } from '../../support/stack-template.ts'

describe('recipients of a stage', () => {
  const subscriptions = (options: Partial<DeployedStage>) =>
    synthesised({ ...deployedStage('dev'), ...options })
      .ofType('AWS::SNS::Subscription')
      .map(({ properties: { Protocol, Endpoint, TopicArn } }) => [TopicArn, Protocol, Endpoint])

  it('are each asked by e-mail, for alerts and for pages while no others are named for those', () => {
    expect(subscriptions({ alarmRecipients: ['ops@gateway.example', 'on-call@gateway.example'] })).toStrictEqual([
      ['<gateway-dev-alerts>', 'email', 'ops@gateway.example'],
      ['<gateway-dev-alerts>', 'email', 'on-call@gateway.example'],
      ['<gateway-dev-pages>', 'email', 'ops@gateway.example'],
      ['<gateway-dev-pages>', 'email', 'on-call@gateway.example'],
    ])
  })

  it('of pages are told of nothing else, at a pager’s own address too', () => {
    const pageRecipients = ['https://pager.example/sns', 'on-call@gateway.example']

    expect(subscriptions({ alarmRecipients: ['ops@gateway.example'], pageRecipients })).toStrictEqual([
      ['<gateway-dev-alerts>', 'email', 'ops@gateway.example'],
      ['<gateway-dev-pages>', 'https', 'https://pager.example/sns'],
      ['<gateway-dev-pages>', 'email', 'on-call@gateway.example'],
    ])
  })
})
