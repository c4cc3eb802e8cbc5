import { RemovalPolicy } from 'aws-cdk-lib'
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import { CfnDelivery, CfnDeliveryDestination, CfnDeliverySource, type LogGroup } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import type { DeployedStage } from '../stage.ts'
import { addLog, arnOf } from '../stage-stack.ts'

/**
 * As in the API's log: no path, query, header or body. Only this log knows the caller's address. CloudWatch bills each
 * byte, so repeated fields are left out.
 */
export const FRONT_LOG_FIELDS = [
  'date',
  'time',
  'c-ip',
  'cs-method',
  'sc-status',
  'sc-bytes',
  'cs-bytes',
  'time-taken',
  'x-edge-location',
  'x-edge-request-id',
  'x-edge-detailed-result-type',
] as const

/** The log's name without the `:*` that CloudFormation appends. */
export const bareArn = (log: LogGroup): string => arnOf(log, 'logs', `log-group:${log.logGroupName}`)

type Props = { readonly stage: DeployedStage; readonly distribution: Distribution }

/** One JSON line a request at the front, for 14 days. */
export class FrontLog extends Construct {
  constructor(scope: Construct, id: string, { stage, distribution }: Props) {
    super(scope, id)
    const name = `gateway-${stage.settings.name}-front`
    // If it were kept, its name would prevent a new front.
    const log = addLog(this, `/aws/vendedlogs/cloudfront/${name}`, RemovalPolicy.DESTROY)
    const source = new CfnDeliverySource(this, 'Source', {
      name,
      resourceArn: distribution.distributionArn,
      logType: 'ACCESS_LOGS',
    })
    const destination = new CfnDeliveryDestination(this, 'Destination', {
      name,
      destinationResourceArn: bareArn(log),
      outputFormat: 'json',
    })
    new CfnDelivery(this, 'Delivery', {
      deliverySourceName: name,
      deliveryDestinationArn: destination.attrArn,
      recordFields: [...FRONT_LOG_FIELDS],
    }).addResourceDependency(source)
  }
}
