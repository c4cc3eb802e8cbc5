import { describe, expect, it } from 'vitest'
import { synthesised } from '../../support/stack-template.ts'
import { EVERYTHING, stageWith } from '../../support/stage-options.ts'

const template = synthesised(stageWith({ webhookEgress: 'nat' }))
const idsOf = (type: string) => template.ofType(type).map(({ logicalId }) => `<${logicalId}>`)

const worker = template
  .ofType('AWS::Lambda::Function')
  .find(({ properties }) => properties['FunctionName'] === 'gateway-dev-deliver-webhook')
const privateSubnets = template
  .ofType('AWS::EC2::Subnet')
  .filter(({ logicalId }) => logicalId.includes('Private'))
  .map(({ logicalId }) => `<${logicalId}>`)

describe('webhooks from fixed addresses', () => {
  it('put the delivery worker alone into the network', () => {
    const inside = template.all('AWS::Lambda::Function').filter(({ VpcConfig }) => VpcConfig !== undefined)

    expect(inside.map(({ FunctionName }) => FunctionName)).toStrictEqual(['gateway-dev-deliver-webhook'])
    expect(inside[0]?.['VpcConfig']).toStrictEqual({
      SubnetIds: privateSubnets,
      SecurityGroupIds: idsOf('AWS::EC2::SecurityGroup').map((id) => `${id}.GroupId`),
    })
    expect(privateSubnets).toHaveLength(2)
  })

  it('tell the worker and who registers endpoints that no port but 443 is open', () => {
    const told = template
      .all('AWS::Lambda::Function')
      .filter(({ Environment }) => JSON.stringify(Environment).includes('"GATEWAY_WEBHOOK_EGRESS":"nat"'))
      .map(({ FunctionName }) => FunctionName)

    expect(told).toContain('gateway-dev-deliver-webhook')
    expect(told).toContain('gateway-dev-register-endpoint')
    expect(told).not.toContain('gateway-dev-api-create-payment')
  })

  it('keep their addresses in production when the stack goes: merchants have them in their firewalls', () => {
    const kept = synthesised(EVERYTHING).ofType('AWS::EC2::EIP')

    expect(kept.map(({ deletionPolicy }) => deletionPolicy)).toStrictEqual([
      'RetainExceptOnCreate',
      'RetainExceptOnCreate',
    ])
  })

  it('let Lambda connect the worker, and let the worker’s own code connect nothing', () => {
    const role = template
      .ofType('AWS::IAM::Role')
      .find(({ logicalId }) => `<${logicalId}>.Arn` === worker?.properties['Role'])
    const [policy] = [role?.properties['Policies']].flat()
    const statements = [Object(Object(policy).PolicyDocument).Statement]
      .flat()
      .filter((statement) => JSON.stringify(statement).includes('ec2:'))
    const Action = [
      'ec2:AssignPrivateIpAddresses',
      'ec2:CreateNetworkInterface',
      'ec2:DeleteNetworkInterface',
      'ec2:DescribeNetworkInterfaces',
      'ec2:DescribeSubnets',
      'ec2:UnassignPrivateIpAddresses',
    ]

    expect(statements).toStrictEqual([
      { Effect: 'Allow', Action, Resource: '*' },
      {
        Effect: 'Deny',
        Action,
        Resource: '*',
        Condition: {
          ArnEquals: {
            'lambda:SourceFunctionArn':
              'arn:<AWS::Partition>:lambda:<AWS::Region>:<AWS::AccountId>:function:gateway-dev-deliver-webhook',
          },
        },
      },
    ])
    const others = template
      .ofType('AWS::IAM::Role')
      .filter(({ properties }) => JSON.stringify(properties).includes('ec2:'))
    expect(others.map(({ logicalId }) => logicalId)).toStrictEqual([role?.logicalId])
  })
})
