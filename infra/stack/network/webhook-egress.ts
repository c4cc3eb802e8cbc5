import { Aws, CfnOutput, Fn, RemovalPolicy } from 'aws-cdk-lib'
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb'
import * as ec2 from 'aws-cdk-lib/aws-ec2'
import { CfnFlowLog, type IVpc } from 'aws-cdk-lib/aws-ec2'
import { AnyPrincipal, Effect, PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import type { FunctionSpec } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { iamAction, TABLE_ACTIONS } from '../../../shared/table/access.ts'
import { allow, roleWith } from '../allow.ts'
import { type DeployedStage, removalPolicyBesidesTable, stackNameOf } from '../stage.ts'
import { addLog, arnOf } from '../stage-stack.ts'

/** No network is peered with ours, and all runs of Lambda share one interface in each subnet. */
const RANGE = '10.0.0.0/24'
const ZONES = 2

/** Loopback and documentation need no rule: no route leads there. */
const NOT_PUBLIC = [
  '10.0.0.0/8',
  '172.16.0.0/12',
  '192.168.0.0/16',
  '169.254.0.0/16',
  '100.64.0.0/10',
]

/** The second address of a network's resolver. */
const LINK_LOCAL_RESOLVER = '169.254.169.253/32'

const EPHEMERAL = [1024, 65_535] as const

/** Called addresses and refused packets, for 14 days: addresses and counts, never contents. */
class FlowLogs extends Construct {
  constructor(scope: Construct, id: string, vpc: IVpc, stage: DeployedStage) {
    super(scope, id)
    // The key's policy requires the stage's prefix (stage-key.ts). A kept log's name would prevent
    // a new network.
    const logName = `/${stackNameOf(stage)}/webhook-egress`
    const log = addLog(this, logName, RemovalPolicy.DESTROY)
    const writer = new ServicePrincipal('vpc-flow-logs.amazonaws.com').withConditions({
      StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID },
    })
    const actions = ['logs:CreateLogStream', 'logs:PutLogEvents', 'logs:DescribeLogStreams']
    const role = roleWith(this, writer, allow(actions, [log.logGroupArn]))
    new CfnFlowLog(this, 'FlowLog', {
      resourceId: vpc.vpcId,
      resourceType: 'VPC',
      trafficType: 'ALL',
      logDestinationType: 'cloud-watch-logs',
      logGroupName: log.logGroupName,
      deliverLogsPermissionArn: role.roleArn,
    })
  }
}

/**
 * A network of its own for the function that calls merchants' URLs. Its requests leave through a
 * NAT gateway in each of two zones, from fixed addresses that merchants can allow, and reach no
 * private address. `resolveByDns` asks the network's own resolver by /etc/resolv.conf; AWS applies
 * neither security groups nor access lists to it, and our rules allow it anyway. Costs money by the
 * hour, even when idle (two NAT gateways with an address each), and by the gigabyte.
 */
export class WebhookEgress extends Construct {
  readonly vpc: ec2.Vpc
  readonly securityGroup: ec2.SecurityGroup
  readonly subnets: ec2.SubnetSelection = { subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS }

  constructor(scope: Construct, id: string, stage: DeployedStage, table: ITableV2) {
    super(scope, id)
    const addresses = Array.from({ length: ZONES }, (_, zone) => this.addAddress(stage, zone + 1))
    this.vpc = new ec2.Vpc(this, 'Vpc', {
      vpcName: stackNameOf(stage, 'webhooks'),
      ipAddresses: ec2.IpAddresses.cidr(RANGE),
      maxAzs: ZONES,
      natGateways: ZONES,
      natGatewayProvider: ec2.NatProvider.gateway({
        eipAllocationIds: addresses.map(({ attrAllocationId }) => attrAllocationId),
      }),
      subnetConfiguration: [
        {
          name: 'Public',
          subnetType: ec2.SubnetType.PUBLIC,
          cidrMask: 28,
          mapPublicIpOnLaunch: false,
        },
        { name: 'Private', subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS, cidrMask: 27 },
      ],
      // Emptying the unused default group would need a function outside the manifest.
      restrictDefaultSecurityGroup: false,
    })
    this.securityGroup = this.addSecurityGroup()
    closeSubnets(this)
    new FlowLogs(this, 'FlowLogs', this.vpc, stage)
    this.addTableEndpoint(table)

    new CfnOutput(this, 'Addresses', {
      value: Fn.join(
        ',',
        addresses.map(({ ref }) => ref),
      ),
      description: 'The addresses that webhooks come from, for merchants to allow',
    }).overrideLogicalId('WebhookAddresses')
  }

  /** Kept like the stage's data: merchants' firewalls would refuse a new address. */
  private addAddress(stage: DeployedStage, zone: number) {
    const address = new ec2.CfnEIP(this, `Address${zone}`, { domain: 'vpc' })
    address.applyRemovalPolicy(removalPolicyBesidesTable(stage))
    return address
  }

  private addSecurityGroup() {
    const group = new ec2.SecurityGroup(this, 'SecurityGroup', {
      vpc: this.vpc,
      description: 'Webhooks: HTTPS out, and names',
      allowAllOutbound: false,
    })
    group.addEgressRule(ec2.Peer.anyIpv4(), ec2.Port.tcp(443), 'merchants and AWS')
    group.addEgressRule(ec2.Peer.ipv4(RANGE), ec2.Port.udp(53), 'names')
    group.addEgressRule(ec2.Peer.ipv4(RANGE), ec2.Port.tcp(53), 'names with long answers')
    return group
  }

  /**
   * The function reaches this table, and no other table, without the NAT gateways and their price.
   */
  private addTableEndpoint(table: ITableV2) {
    const callers = MANIFEST.filter(({ callsMerchants }) => callsMerchants)
    const actions = TABLE_ACTIONS.filter((action) =>
      callers.some(({ table: access }) => access[action]),
    ).map(iamAction)
    this.vpc
      .addGatewayEndpoint('Table', {
        service: ec2.GatewayVpcEndpointAwsService.DYNAMODB,
        subnets: [this.subnets],
      })
      .addToPolicy(
        new PolicyStatement({
          principals: [new AnyPrincipal()],
          actions: [...new Set(actions)],
          resources: [table.tableArn],
        }),
      )
  }
}

/**
 * The EC2 permissions of AWSLambdaVPCAccessExecutionRole. Lambda makes the interfaces in the
 * function's name.
 */
const INTERFACE_ACTIONS = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:UnassignPrivateIpAddresses',
]

/**
 * Lets Lambda connect the function to the network. Two of the actions can be allowed only on all
 * resources, and interfaces have no names yet. The function's own code talks to strangers, so it is
 * denied all of them.
 */
export function egressGrants(
  spec: FunctionSpec,
  { egress, stage }: { readonly egress?: WebhookEgress | undefined; readonly stage: DeployedStage },
) {
  if (!egress || spec.callsMerchants !== true) return []
  const everything = { actions: INTERFACE_ACTIONS, resources: ['*'] }
  const functionArn = arnOf(egress, 'lambda', `function:${stackNameOf(stage, spec.name)}`)
  // The function's code has the function's ARN, Lambda's own calls have none.
  const conditions = { ArnEquals: { 'lambda:SourceFunctionArn': functionArn } }
  return [
    new PolicyStatement(everything),
    new PolicyStatement({ ...everything, effect: Effect.DENY, conditions }),
  ]
}

/**
 * Subnets reach public addresses by HTTPS, and their resolver: no private address, even if a URL
 * passed the checks. A list is stateless, so answers need their own rule.
 */
function closeSubnets(egress: WebhookEgress) {
  const { vpc, subnets: subnetSelection } = egress
  const list = new ec2.NetworkAcl(egress, 'AccessList', { vpc, subnetSelection })
  const { EGRESS, INGRESS } = ec2.TrafficDirection
  const { AclCidr, AclTraffic, Action } = ec2

  for (const [at, range] of [RANGE, LINK_LOCAL_RESOLVER].entries()) {
    const ways = [
      ['Udp', AclTraffic.udpPort(53), AclTraffic.udpPortRange(...EPHEMERAL)],
      ['Tcp', AclTraffic.tcpPort(53), AclTraffic.tcpPortRange(...EPHEMERAL)],
    ] as const
    for (const [way, [name, question, answer]] of ways.entries()) {
      const names = {
        cidr: AclCidr.ipv4(range),
        ruleAction: Action.ALLOW,
        ruleNumber: 10 + at * 10 + way,
      }
      list.addEntry(`Ask${name}${at}`, { ...names, traffic: question, direction: EGRESS })
      list.addEntry(`Told${name}${at}`, { ...names, traffic: answer, direction: INGRESS })
    }
  }
  for (const [at, inside] of NOT_PUBLIC.entries()) {
    const closed = {
      cidr: AclCidr.ipv4(inside),
      ruleNumber: 100 + at,
      traffic: AclTraffic.allTraffic(),
      ruleAction: Action.DENY,
    }
    list.addEntry(`NotTo${at}`, { ...closed, direction: EGRESS })
    list.addEntry(`NotFrom${at}`, { ...closed, direction: INGRESS })
  }
  const open = { cidr: AclCidr.anyIpv4(), ruleNumber: 200, ruleAction: Action.ALLOW }
  list.addEntry('Https', { ...open, traffic: AclTraffic.tcpPort(443), direction: EGRESS })
  list.addEntry('Answers', {
    ...open,
    traffic: AclTraffic.tcpPortRange(...EPHEMERAL),
    direction: INGRESS,
  })
}
