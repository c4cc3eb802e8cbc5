import { describe, expect, it } from 'vitest'
import { MANIFEST } from '../../../functions/manifest.ts'
import { iamAction, TABLE_ACTIONS } from '../../../shared/table/access.ts'
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

/** The access list's rules in the order in which they are asked. */
const rulesOf = (egress: boolean) =>
  template
    .all('AWS::EC2::NetworkAclEntry')
    .filter(({ Egress }) => Egress === egress)
    .toSorted((a, b) => Number(a['RuleNumber']) - Number(b['RuleNumber']))
    .map(({ CidrBlock, RuleAction, Protocol, PortRange }) => {
      const { From, To } = Object(PortRange)
      return `${String(RuleAction)} ${Protocol === 6 ? 'tcp' : Protocol === 17 ? 'udp' : 'all'} ${From === To ? String(From ?? '') : `${From}-${To}`} ${String(CidrBlock)}`
    })

const CLOSED = ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '169.254.0.0/16', '100.64.0.0/10']

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

  it('reach no private address, only their resolver', () => {
    const resolvers = ['10.0.0.0/24', '169.254.169.253/32']

    expect(rulesOf(true)).toStrictEqual([
      ...resolvers.flatMap((range) => [`allow udp 53 ${range}`, `allow tcp 53 ${range}`]),
      ...CLOSED.map((range) => `deny all  ${range}`),
      'allow tcp 443 0.0.0.0/0',
    ])
    expect(rulesOf(false)).toStrictEqual([
      ...resolvers.flatMap((range) => [`allow udp 1024-65535 ${range}`, `allow tcp 1024-65535 ${range}`]),
      ...CLOSED.map((range) => `deny all  ${range}`),
      'allow tcp 1024-65535 0.0.0.0/0',
    ])
    const list = `<${template.only('AWS::EC2::NetworkAcl').logicalId}>`
    expect(
      template
        .all('AWS::EC2::SubnetNetworkAclAssociation')
        .map(({ NetworkAclId, SubnetId }) => [NetworkAclId, SubnetId]),
    ).toStrictEqual(privateSubnets.map((subnet) => [list, subnet]))
  })

  it('reach the one table without the gateways, for what the worker does with it', () => {
    const { properties: endpoint } = template.only('AWS::EC2::VPCEndpoint')
    const access = MANIFEST.find(({ callsMerchants }) => callsMerchants)?.table ?? {}
    const actions = [...new Set(TABLE_ACTIONS.filter((action) => access[action]).map(iamAction))]

    expect(endpoint).toMatchObject({
      VpcEndpointType: 'Gateway',
      PolicyDocument: {
        Statement: [
          {
            Effect: 'Allow',
            Action: expect.toSatisfy(
              (allowed: readonly string[]) => JSON.stringify(allowed.toSorted()) === JSON.stringify(actions.toSorted()),
            ),
            Resource: '<gateway-dev>.Arn',
          },
        ],
      },
    })
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
