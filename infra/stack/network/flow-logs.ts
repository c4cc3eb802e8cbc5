import { Aws } from 'aws-cdk-lib'
import { CfnFlowLog, type IVpc } from 'aws-cdk-lib/aws-ec2'
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam'
import { Construct } from 'constructs'
import { allow, roleWith } from '../functions/allow.ts'
import { type DeployedStage, removalPolicyBesidesTable } from '../stage.ts'
import { addLog } from '../stage-stack.ts'

/** Which addresses were called and which packets refused, for 14 days: addresses and counts, never contents. */
export class FlowLogs extends Construct {
  constructor(scope: Construct, id: string, { vpc, stage }: { readonly vpc: IVpc; readonly stage: DeployedStage }) {
    super(scope, id)
    // With the stage's prefix in its name, as the key's policy expects of every log (stage-key.ts).
    const log = addLog(this, `/gateway-${stage.settings.name}/webhook-egress`, removalPolicyBesidesTable(stage))
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
