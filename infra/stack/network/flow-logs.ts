import { Aws } from 'aws-cdk-lib'
import { CfnFlowLog, type IVpc } from 'aws-cdk-lib/aws-ec2'
import { PolicyDocument, PolicyStatement, Role, ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import { type DeployedStage, removalPolicyBesidesTable } from '../stage.ts'

/** Which addresses were called and which packets refused, for 14 days: addresses and counts, never contents. */
export class FlowLogs extends Construct {
  constructor(scope: Construct, id: string, { vpc, stage }: { readonly vpc: IVpc; readonly stage: DeployedStage }) {
    super(scope, id)
    const log = new LogGroup(this, 'Log', {
      // With the stage's prefix in it, as the key's policy expects of every log (stage-key.ts).
      logGroupName: `/gateway-${stage.settings.name}/webhook-egress`,
      retention: RetentionDays.TWO_WEEKS,
      removalPolicy: removalPolicyBesidesTable(stage),
    })
    const role = new Role(this, 'Role', {
      assumedBy: new ServicePrincipal('vpc-flow-logs.amazonaws.com').withConditions({
        StringEquals: { 'aws:SourceAccount': Aws.ACCOUNT_ID },
      }),
      inlinePolicies: {
        access: new PolicyDocument({
          statements: [
            new PolicyStatement({
              actions: ['logs:CreateLogStream', 'logs:PutLogEvents', 'logs:DescribeLogStreams'],
              resources: [log.logGroupArn],
            }),
          ],
        }),
      },
    })
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
