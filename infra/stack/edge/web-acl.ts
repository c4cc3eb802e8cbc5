import { ArnFormat, RemovalPolicy, Stack } from 'aws-cdk-lib'
import { LogGroup, RetentionDays } from 'aws-cdk-lib/aws-logs'
import { CfnLoggingConfiguration, CfnWebACL } from 'aws-cdk-lib/aws-wafv2'
import { Construct } from 'constructs'
import type { DeployedStage } from '../stage.ts'
import { managedRules } from './managed-rules.ts'
import { rateRules } from './rate-rules.ts'

/** Never written down: who asks, what the provider shows us, and what is asked for (design: no path, no query in logs). */
const REDACTED = [
  ...['authorization', 'x-callback-token', 'cookie', 'idempotency-key'].map((Name) => ({ singleHeader: { Name } })),
  { uriPath: {} },
  { queryString: {} },
]

/** What the front lets through to the gateway. */
export class WebAcl extends Construct {
  readonly arn: string

  constructor(scope: Construct, id: string, stage: DeployedStage) {
    super(scope, id)
    const name = `gateway-${stage.settings.name}`
    const acl = new CfnWebACL(this, 'Acl', {
      name,
      scope: 'CLOUDFRONT',
      defaultAction: { allow: {} },
      visibilityConfig: { cloudWatchMetricsEnabled: true, metricName: name, sampledRequestsEnabled: false },
      customResponseBodies: {
        rate_limit: {
          contentType: 'APPLICATION_JSON',
          // The envelope of spec section 7, which clients parse.
          content: JSON.stringify({ message: 'too many requests from this address', code: 'rate_limit' }),
        },
      },
      rules: [...rateRules(stage), ...managedRules()],
    })
    this.arn = acl.attrArn
    this.logRefusals(name, acl)
  }

  /** What was let through is in the API's own log. */
  private logRefusals(name: string, acl: CfnWebACL): void {
    const log = new LogGroup(this, 'Log', {
      // The firewall writes to no log whose name begins otherwise.
      logGroupName: `aws-waf-logs-${name}`,
      retention: RetentionDays.TWO_WEEKS,
      // Kept, its name would stop the front from being turned on again.
      removalPolicy: RemovalPolicy.DESTROY,
    })
    const keep = (action: string) => ({
      Behavior: 'KEEP',
      Requirement: 'MEETS_ANY',
      Conditions: [{ ActionCondition: { Action: action } }],
    })
    new CfnLoggingConfiguration(this, 'Logging', {
      resourceArn: acl.attrArn,
      logDestinationConfigs: [
        // Without the `:*` that other services want at its end.
        Stack.of(this).formatArn({
          service: 'logs',
          resource: 'log-group',
          resourceName: log.logGroupName,
          arnFormat: ArnFormat.COLON_RESOURCE_NAME,
        }),
      ],
      redactedFields: REDACTED,
      loggingFilter: { DefaultBehavior: 'DROP', Filters: [keep('BLOCK'), keep('COUNT'), keep('EXCLUDED_AS_COUNT')] },
    })
  }
}
