import { ArnFormat, RemovalPolicy, Stack } from 'aws-cdk-lib'
import type { Distribution } from 'aws-cdk-lib/aws-cloudfront'
import { CfnDelivery, CfnDeliveryDestination, CfnDeliverySource, LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import type { DeployedStage } from '../stage.ts'

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
export const bareArn = (log: LogGroup): string =>
  Stack.of(log).formatArn({
    service: 'logs',
    resource: 'log-group',
    resourceName: log.logGroupName,
    arnFormat: ArnFormat.COLON_RESOURCE_NAME,
  })

type Props = { readonly stage: DeployedStage; readonly distribution: Distribution }

/** One JSON line a request at the front, for 14 days. */
export class FrontLog extends Construct {
  constructor(scope: Construct, id: string, { stage, distribution }: Props) {
    super(scope, id)
    const name = `gateway-${stage.settings.name}-front`
    const log = new LogGroup(this, 'Log', {
      logGroupName: `/aws/vendedlogs/cloudfront/${name}`,
      retention: RetentionDays.TWO_WEEKS,
      // If it were kept, its name would prevent a new front.
      removalPolicy: RemovalPolicy.DESTROY,
    })
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
