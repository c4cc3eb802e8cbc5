import { expect, it } from 'vitest'
import { INTERFACE_ACTIONS } from '../../../infra/stack/network/webhook-egress.ts'
import { synthesised } from '../../support/stack-template.ts'
import { EVERYTHING, stageWith } from '../../support/stage-options.ts'

/* What fixed addresses add to a stage: test/infra/templates/webhook-egress.txt. */

it('the addresses stay in production when the stack goes: merchants have them in their firewalls', () => {
  const kept = synthesised(EVERYTHING).ofType('AWS::EC2::EIP')

  expect(kept.map(({ deletionPolicy }) => deletionPolicy)).toStrictEqual([
    'RetainExceptOnCreate',
    'RetainExceptOnCreate',
  ])
})

it('Lambda may connect the delivery worker, and the worker’s own code may connect nothing', () => {
  const holders = synthesised(stageWith({ webhookEgress: 'nat' }))
    .ofType('AWS::IAM::Role')
    .filter(({ properties }) => JSON.stringify(properties).includes('ec2:'))
  const [policy] = [holders[0]?.properties['Policies']].flat()
  const statements = [Object(Object(policy).PolicyDocument).Statement]
    .flat()
    .filter((statement) => JSON.stringify(statement).includes('ec2:'))

  expect(holders.map(({ logicalId }) => logicalId)).toStrictEqual([expect.stringMatching(/^Functionsdeliverwebhook/)])
  const Action = INTERFACE_ACTIONS.toSorted()
  const worker = 'arn:<AWS::Partition>:lambda:<AWS::Region>:<AWS::AccountId>:function:gateway-dev-deliver-webhook'
  const Condition = { ArnEquals: { 'lambda:SourceFunctionArn': worker } }
  expect(statements).toStrictEqual([
    { Effect: 'Allow', Action, Resource: '*' },
    { Effect: 'Deny', Action, Resource: '*', Condition },
  ])
})
