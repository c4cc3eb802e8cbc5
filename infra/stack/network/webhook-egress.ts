import { CfnOutput, Fn } from 'aws-cdk-lib'
import type { ITableV2 } from 'aws-cdk-lib/aws-dynamodb'
import * as ec2 from 'aws-cdk-lib/aws-ec2'
import { AnyPrincipal, Effect, PolicyStatement } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import { type FunctionSpec, functionName } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { iamAction, TABLE_ACTIONS } from '../../../shared/table/access.ts'
import { type DeployedStage, removalPolicyBesidesTable } from '../stage.ts'
import { arnOf } from '../stage-stack.ts'
import { closedSubnets } from './closed-subnets.ts'
import { FlowLogs } from './flow-logs.ts'

/**
 * No network is peered with it, and Lambda shares an interface for each subnet among all runs: a small range is enough.
 */
const RANGE = '10.0.0.0/24'
const ZONES = 2

/**
 * A network of its own for the function that calls addresses merchants choose: it leaves through one NAT gateway in each
 * of two zones, from fixed addresses that merchants can allow, and reaches nothing inside. Names are resolved by the
 * network's own resolver: `resolveByDns` asks the servers that its environment names in /etc/resolv.conf, as any lookup
 * does. AWS applies neither security groups nor access lists between a network and its resolver; ours allow it anyway.
 *
 * Costs by the hour even when idle: two NAT gateways with an address each; and by the gigabyte sent.
 */
export class WebhookEgress extends Construct {
  readonly vpc: ec2.Vpc
  readonly securityGroup: ec2.SecurityGroup
  readonly subnets: ec2.SubnetSelection = { subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS }

  constructor(scope: Construct, id: string, stage: DeployedStage, table: ITableV2) {
    super(scope, id)
    const addresses = Array.from({ length: ZONES }, (_, zone) => this.fixedAddress(stage, zone + 1))
    this.vpc = new ec2.Vpc(this, 'Vpc', {
      vpcName: `gateway-${stage.settings.name}-webhooks`,
      ipAddresses: ec2.IpAddresses.cidr(RANGE),
      maxAzs: ZONES,
      natGateways: ZONES,
      natGatewayProvider: ec2.NatProvider.gateway({
        eipAllocationIds: addresses.map(({ attrAllocationId }) => attrAllocationId),
      }),
      subnetConfiguration: [
        { name: 'Public', subnetType: ec2.SubnetType.PUBLIC, cidrMask: 28, mapPublicIpOnLaunch: false },
        { name: 'Private', subnetType: ec2.SubnetType.PRIVATE_WITH_EGRESS, cidrMask: 27 },
      ],
      // Emptying the unused default group would need a function outside the manifest.
      restrictDefaultSecurityGroup: false,
    })
    this.securityGroup = this.outwardOnly()
    closedSubnets(this, { vpc: this.vpc, subnets: this.subnets, range: RANGE })
    new FlowLogs(this, 'FlowLogs', { vpc: this.vpc, stage })
    this.tableEndpoint(table)

    const allIn = addresses.map(({ ref }) => ref)
    new CfnOutput(this, 'Addresses', {
      value: Fn.join(',', allIn),
      description: 'The addresses that webhooks come from, for merchants to allow',
    }).overrideLogicalId('WebhookAddresses')
  }

  /** Kept like the stage's data: merchants have it in their firewalls, and a new address would cut them off. */
  private fixedAddress(stage: DeployedStage, zone: number): ec2.CfnEIP {
    const address = new ec2.CfnEIP(this, `Address${zone}`, { domain: 'vpc' })
    address.applyRemovalPolicy(removalPolicyBesidesTable(stage))
    return address
  }

  private outwardOnly(): ec2.SecurityGroup {
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

  /** The table is reached without the NAT gateways and their price, and no other table is. */
  private tableEndpoint(table: ITableV2): void {
    const callers = MANIFEST.filter(({ callsMerchants }) => callsMerchants)
    const actions = TABLE_ACTIONS.filter((action) => callers.some(({ table: access }) => access[action])).map(iamAction)
    this.vpc
      .addGatewayEndpoint('Table', { service: ec2.GatewayVpcEndpointAwsService.DYNAMODB, subnets: [this.subnets] })
      .addToPolicy(
        new PolicyStatement({
          principals: [new AnyPrincipal()],
          actions: [...new Set(actions)],
          resources: [table.tableArn],
        }),
      )
  }
}

/** What AWSLambdaVPCAccessExecutionRole has of EC2: Lambda makes the interfaces in the function's name. */
export const INTERFACE_ACTIONS = [
  'ec2:AssignPrivateIpAddresses',
  'ec2:CreateNetworkInterface',
  'ec2:DeleteNetworkInterface',
  'ec2:DescribeNetworkInterfaces',
  'ec2:DescribeSubnets',
  'ec2:UnassignPrivateIpAddresses',
]

/**
 * Lets Lambda connect the function to the network. Two of the actions can only be allowed on everything, and interfaces
 * have no names yet; so the function's own code, which talks to strangers, is denied all of them.
 */
export const egressGrants = (
  spec: FunctionSpec,
  { egress, stage }: { readonly egress?: WebhookEgress | undefined; readonly stage: DeployedStage },
): PolicyStatement[] => {
  if (!egress || spec.callsMerchants !== true) return []
  const everything = { actions: INTERFACE_ACTIONS, resources: ['*'] }
  const itself = arnOf(egress, 'lambda', `function:${functionName(stage.settings.name, spec)}`)
  // The ARN is named only in calls that the function's code makes; Lambda's own come without it.
  const conditions = { ArnEquals: { 'lambda:SourceFunctionArn': itself } }
  return [new PolicyStatement(everything), new PolicyStatement({ ...everything, effect: Effect.DENY, conditions })]
}
