import { type App, CfnOutput, Duration, RemovalPolicy, SecretValue, type Stack } from 'aws-cdk-lib'
import { CfnBudget } from 'aws-cdk-lib/aws-budgets'
import * as cloudfront from 'aws-cdk-lib/aws-cloudfront'
import { HttpOrigin } from 'aws-cdk-lib/aws-cloudfront-origins'
import { CfnDelivery, CfnDeliveryDestination, CfnDeliverySource } from 'aws-cdk-lib/aws-logs'
import { ARecord, RecordTarget } from 'aws-cdk-lib/aws-route53'
import { CloudFrontTarget } from 'aws-cdk-lib/aws-route53-targets'
import { Construct } from 'constructs'
import { ORIGIN_HEADER } from '../../shared/runtime/origin-guard.ts'
import { originSecretName } from '../../shared/secrets.ts'
import { apiDomainName, certificateOf, hostedZone } from './edge/api-domain.ts'
import { FrontProbe } from './edge/front-probe.ts'
import { WebAcl } from './edge/web-acl.ts'
import { frontAlarms, type WatchedFront } from './monitoring/alarms/front-alarms.ts'
import { GatewayAlarms } from './monitoring/gateway-alarms.ts'
import { operatorTopic } from './monitoring/operator-topic.ts'
import { type DeployedStage, FRONT_REGION, hasAlarms, stackNameOf } from './stage.ts'
import type { StageDomain } from './stage-file.ts'
import { addLog, arnOf, bareArn, StageStack } from './stage-stack.ts'

/** Longer than the API's limit, so that the gateway's envelope answers slow requests. */
const ORIGIN_TIMEOUT = Duration.seconds(30)

/**
 * CloudFront caches these whatever the cache policy says. One merchant must not get another's
 * answer.
 */
const CACHED_ERRORS = [400, 403, 404, 405, 414, 416, 500, 501, 502, 503, 504]

/** One mail while there is time to act, one when the forecast exceeds the amount. */
const NOTIFICATIONS = [
  { notificationType: 'ACTUAL', threshold: 80 },
  { notificationType: 'FORECASTED', threshold: 100 },
] as const

/**
 * As in the API's log, no path, query, header or body. This log and the firewall's have the
 * caller's address. CloudWatch bills each byte, so repeated fields are left out.
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

/**
 * CloudFront and its firewall before the API, in the one region where both are configured. Refers
 * to the gateway's stack by names alone, because regions cannot refer to each other, and is
 * deployed after it.
 */
export class FrontStack extends StageStack {
  readonly watched: WatchedFront

  constructor(scope: App, stage: DeployedStage) {
    const props = { env: { region: FRONT_REGION }, terminationProtection: stage.deletionProtection }
    super(scope, stage, { part: 'front', holds: 'CloudFront and WAF', ...props })
    const { domain } = stage
    if (!domain) throw new Error(`stage ${stage.settings.name}: CloudFront needs a domain`)

    const zone = hostedZone(this, domain)
    const acl = new WebAcl(this, 'WebAcl', stage)
    const certificate = certificateOf(this, domain.name, zone)
    const distribution = new cloudfront.Distribution(this, 'Distribution', {
      // A change of the comment makes CloudFormation read the secret again.
      comment: `Payment gateway ${stage.settings.name}, origin secret ${stage.frontSettings.originSecretRotation}`,
      domainNames: [domain.name],
      certificate,
      minimumProtocolVersion: cloudfront.SecurityPolicyProtocol.TLS_V1_2_2021,
      // By default CloudFront caches an error for ten seconds and shows it to all callers of the
      // path.
      errorResponses: CACHED_ERRORS.map((httpStatus) => ({ httpStatus, ttl: Duration.seconds(0) })),
      // The firewall counts single addresses; an IPv6 subscriber has too many.
      enableIpv6: false,
      httpVersion: cloudfront.HttpVersion.HTTP2_AND_3,
      webAclId: acl.arn,
      defaultBehavior: {
        origin: originOf(stage, domain),
        allowedMethods: cloudfront.AllowedMethods.ALLOW_ALL,
        cachePolicy: cloudfront.CachePolicy.CACHING_DISABLED,
        // The API expects the origin's name as host, and everything else that a client sends.
        originRequestPolicy: cloudfront.OriginRequestPolicy.ALL_VIEWER_EXCEPT_HOST_HEADER,
        // A key that a client sent without TLS must not seem to work.
        viewerProtocolPolicy: cloudfront.ViewerProtocolPolicy.HTTPS_ONLY,
        compress: false,
      },
    })
    const { originCertificate } = stage.frontSettings
    const shown = originCertificate && arnOf(this, 'acm', `certificate/${originCertificate.id}`)
    if (shown) showCertificate(distribution, shown)
    addFrontLog(this, stage, distribution)

    const target = RecordTarget.fromAlias(new CloudFrontTarget(distribution))
    new ARecord(this, 'Ipv4', { zone, recordName: domain.name, target })
    this.watched = {
      distributionId: distribution.distributionId,
      webAcl: acl.name,
      rules: acl.rules,
      probe: new FrontProbe(this, 'Probe', stage, domain.name).functionName,
      certificates: { public: certificate.certificateArn, ...(shown && { shown }) },
    }
    if (hasAlarms(stage)) addAlarms(this, stage, this.watched)

    // CloudFormation has budgets here, and not in every stage's region.
    addMonthlyBudget(this, stage)
    new CfnOutput(this, 'DistributionId', {
      value: distribution.distributionId,
      description: 'The CloudFront front',
    })
  }
}

/**
 * Functions recognise the front by this secret. CloudFront replaces a value that a caller sends.
 */
function originOf(stage: DeployedStage, domain: StageDomain) {
  return new HttpOrigin(apiDomainName(domain, stage.front), {
    protocolPolicy: cloudfront.OriginProtocolPolicy.HTTPS_ONLY,
    originSslProtocols: [cloudfront.OriginSslPolicy.TLS_V1_2],
    readTimeout: ORIGIN_TIMEOUT,
    customHeaders: {
      // CloudFormation inserts the value during the deployment: no template contains it.
      [ORIGIN_HEADER]: SecretValue.secretsManager(originSecretName(stage.settings.name), {
        jsonField: 'current',
      }).unsafeUnwrap(),
    },
  })
}

/** The origin's construct has no certificate yet (aws-cdk, issue 37842). */
function showCertificate(distribution: cloudfront.Distribution, ClientCertificateArn: string) {
  const { defaultChild: resource } = distribution.node
  if (!(resource instanceof cloudfront.CfnDistribution))
    throw new Error('the distribution has no resource')
  resource.addPropertyOverride('DistributionConfig.Origins.0.CustomOriginConfig.OriginMtlsConfig', {
    ClientCertificateArn,
  })
}

/** A topic of another region cannot be an alarm's action, so the front has topics of its own. */
function addAlarms(scope: Construct, stage: DeployedStage, front: WatchedFront) {
  const topicOf = (name: 'front-alerts' | 'front-pages') =>
    operatorTopic(scope, name, { stage, name })
  new GatewayAlarms(scope, 'Alarms', {
    stage: stage.settings.name,
    groups: frontAlarms(front),
    quietId: 'front-quiet',
    topic: topicOf('front-alerts'),
    pageTopic: topicOf('front-pages'),
  })
}

/** One JSON line for each request, for 14 days. */
function addFrontLog(
  parent: Construct,
  stage: DeployedStage,
  { distributionArn }: cloudfront.Distribution,
) {
  const scope = new Construct(parent, 'Log')
  const name = stackNameOf(stage, 'front')
  // A kept log's name would prevent a new front.
  const log = addLog(scope, `/aws/vendedlogs/cloudfront/${name}`, RemovalPolicy.DESTROY)
  const origin = { name, resourceArn: distributionArn, logType: 'ACCESS_LOGS' }
  const source = new CfnDeliverySource(scope, 'Source', origin)
  const target = { name, destinationResourceArn: bareArn(log), outputFormat: 'json' }
  const destination = new CfnDeliveryDestination(scope, 'Destination', target)
  new CfnDelivery(scope, 'Delivery', {
    deliverySourceName: name,
    deliveryDestinationArn: destination.attrArn,
    recordFields: [...FRONT_LOG_FIELDS],
  }).addResourceDependency(source)
}

/**
 * Adds a monthly budget, if the stage names an amount. The budget mails the recipients of alarms
 * directly, because their topic is in another region. It counts the whole account: a tag counts no
 * costs until a person activates the tag. CloudFormation replaces it for new recipients, which a
 * name would prevent.
 */
function addMonthlyBudget(stack: Stack, stage: DeployedStage) {
  const { monthlyBudgetUsd: amount, alarmRecipients } = stage
  if (amount === undefined) return
  const subscribers = alarmRecipients.map((address) => ({ subscriptionType: 'EMAIL', address }))
  new CfnBudget(stack, 'Budget', {
    budget: { budgetType: 'COST', timeUnit: 'MONTHLY', budgetLimit: { amount, unit: 'USD' } },
    ...(subscribers.length > 0 && {
      notificationsWithSubscribers: NOTIFICATIONS.map((notification) => ({
        notification: {
          ...notification,
          comparisonOperator: 'GREATER_THAN',
          thresholdType: 'PERCENTAGE',
        },
        subscribers,
      })),
    }),
  })
}
