import { Duration } from 'aws-cdk-lib'
import { AccessLogFormat } from 'aws-cdk-lib/aws-apigateway'
import * as apigateway from 'aws-cdk-lib/aws-apigatewayv2'
import { HttpLambdaIntegration } from 'aws-cdk-lib/aws-apigatewayv2-integrations'
import type { IFunction } from 'aws-cdk-lib/aws-lambda'
import { FilterPattern, type LogGroup, MetricFilter } from 'aws-cdk-lib/aws-logs'
import { Construct } from 'constructs'
import type { GatewayFunctions } from '../functions/gateway-functions.ts'
import { type Throttled, throttledMetric } from '../monitoring/alarms/metric-ref.ts'
import { CREATE_ROUTE, routeSettings } from '../settings/route-settings.ts'
import { type DeployedStage, hasAlarms, removalPolicyBesidesTable } from '../stage.ts'
import { addLog, bareArn } from '../stage-stack.ts'

/**
 * Longer than every function's timeout, so that a slow request gets our envelope and not API
 * Gateway's.
 */
const INTEGRATION_TIMEOUT = Duration.seconds(29)

/**
 * The route's template and outcomes, never a path, query, header or body. CloudWatch adds the time,
 * and bills each byte.
 */
export const ACCESS_LOG_FIELDS = {
  request_id: '$context.requestId',
  ip: '$context.identity.sourceIp',
  route: '$context.routeKey',
  status: '$context.status',
  response_latency_ms: '$context.responseLatency',
  integration_latency_ms: '$context.integrationLatency',
  integration_status: '$context.integration.integrationStatus',
  integration_error: '$context.integrationErrorMessage',
  error: '$context.error.message',
}

type Props = { readonly stage: DeployedStage; readonly functions: GatewayFunctions }

/** Each function authenticates, because API Gateway cannot answer in our envelope. */
export class GatewayHttpApi extends Construct {
  readonly api: apigateway.HttpApi
  readonly stage: apigateway.HttpStage
  private readonly routes: apigateway.HttpRoute[] = []

  constructor(scope: Construct, id: string, { stage, functions }: Props) {
    super(scope, id)
    this.api = new apigateway.HttpApi(this, 'Api', {
      apiName: `gateway-${stage.settings.name}`,
      createDefaultStage: false,
      // The generated address would be a second way in.
      disableExecuteApiEndpoint: stage.domain !== undefined,
    })
    for (const { spec, trigger, live } of functions.triggeredBy('http')) {
      this.addRoute(
        spec.name,
        apigateway.HttpRouteKey.with(trigger.path, apigateway.HttpMethod[trigger.method]),
        live,
      )
    }
    for (const { spec, live } of functions.triggeredBy('http-default')) {
      this.addRoute(spec.name, apigateway.HttpRouteKey.DEFAULT, live)
    }
    this.stage = this.addStage(stage)
  }

  private addRoute(name: string, routeKey: apigateway.HttpRouteKey, lambda: IFunction) {
    const route = new apigateway.HttpRoute(this, name, {
      httpApi: this.api,
      routeKey,
      integration: new HttpLambdaIntegration('Integration', lambda, {
        payloadFormatVersion: apigateway.PayloadFormatVersion.VERSION_2_0,
        timeout: INTEGRATION_TIMEOUT,
      }),
    })
    // After a change of the kind of deployment the API calls another alias: the permission first.
    const { node } = route
    node.findChild('Integration').node.addDependency(node.findChild('Integration-Permission'))
    this.routes.push(route)
  }

  private addStage(stage: DeployedStage) {
    // With this prefix the log needs no resource policy. An account may have only ten.
    const logName = `/aws/vendedlogs/http-api/gateway-${stage.settings.name}`
    const accessLog = addLog(this, logName, removalPolicyBesidesTable(stage), 'AccessLog')
    if (hasAlarms(stage)) countThrottled(accessLog, stage)
    const deployed = new apigateway.HttpStage(this, 'Stage', {
      httpApi: this.api,
      stageName: '$default',
      autoDeploy: true,
      throttle: { rateLimit: stage.throttle.requestsPerSecond, burstLimit: stage.throttle.burst },
      // AWS charges for metrics by route, which nothing reads. The access log has the route.
      detailedMetricsEnabled: false,
      accessLogSettings: {
        // The name that API Gateway stores; with another one the stage would seem to have drifted.
        destination: { bind: () => ({ destinationArn: bareArn(accessLog) }) },
        format: AccessLogFormat.custom(JSON.stringify(ACCESS_LOG_FIELDS)),
      },
    })
    const settings = routeSettings(stage)
    if (settings !== undefined && deployed.node.defaultChild instanceof apigateway.CfnStage) {
      deployed.node.defaultChild.routeSettings = settings
      // API Gateway refuses a stage that names a route before the route exists.
      deployed.node.addDependency(...this.routes)
    }
    return deployed
  }
}

/**
 * Counts the 429 that no function wrote. For an answer of a function the integration's status is
 * Lambda's 200, whatever it answered; without a function it is `-`.
 */
function countThrottled(accessLog: LogGroup, { settings }: DeployedStage) {
  const refused = '$.status = "429" && $.integration_status != "200"'
  const patterns: Readonly<Record<Throttled, string>> = {
    throttled: refused,
    'throttled-creates': `${refused} && $.route = "${CREATE_ROUTE}"`,
  }
  for (const what of ['throttled', 'throttled-creates'] as const) {
    const { namespace, name } = throttledMetric(settings.name, what)
    new MetricFilter(accessLog, what, {
      logGroup: accessLog,
      filterPattern: FilterPattern.literal(`{ ${patterns[what]} }`),
      metricNamespace: namespace,
      metricName: name,
      metricValue: '1',
    })
  }
}
