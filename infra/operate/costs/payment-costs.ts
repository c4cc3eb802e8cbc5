import { RATE_RULE_NAMES } from '../../stack/edge/rate-rules.ts'
import { managedRules } from '../../stack/edge/web-acl-rules.ts'
import type { StageTemplate } from '../../stack/stage-template.ts'
import { ASSUMPTIONS } from './assumptions.ts'
import type { Flow } from './flow.ts'
import { type CostLine, lambdaUsd, logUsd } from './idle-components.ts'
import type { Measured } from './measure-flows.ts'
import { PRICES } from './prices.ts'

const MILLION = 1_000_000
const WEB_ACL_RULES = RATE_RULE_NAMES.length + managedRules().length
const BYTES_PER_GB = 1_000_000_000

/** Sent, received and deleted. */
const REQUESTS_PER_MESSAGE = 3

const total = (flows: readonly Flow[], of: (flow: Flow) => number): number =>
  flows.reduce((sum, flow) => sum + of(flow), 0)

const queueUsd = (messages: number): number =>
  messages * (REQUESTS_PER_MESSAGE * PRICES.sqsRequestMillion + PRICES.sqsFairMillion)

/** Dollars for a million payments, each paid, announced to one endpoint, fetched once and settled. */
export const paymentCosts = (
  template: Pick<StageTemplate, 'ofType'>,
  { perPayment, storedBytesPerPayment }: Measured,
): readonly CostLine[] => {
  const reads = total(perPayment, (flow) => flow.reads)
  const writes = total(perPayment, (flow) => flow.writes)
  const messages = total(perPayment, (flow) => flow.messages)
  const requests = total(perPayment, (flow) => (flow.isHttp ? 1 : 0))
  const secretCalls = 1 / ASSUMPTIONS.deliveriesPerSecretRead
  return [
    {
      component: 'DynamoDB writes',
      basis: `${one(writes)} units a payment`,
      usd: writes * PRICES.dynamodbWriteMillion,
    },
    { component: 'DynamoDB reads', basis: `${one(reads)} units a payment`, usd: reads * PRICES.dynamodbReadMillion },
    {
      component: 'Lambda',
      basis: `${one(total(perPayment, (flow) => flow.invocations))} invocations a payment; durations assumed`,
      usd: total(perPayment, (flow) => lambdaUsd(template, flow, flow.invocations)) * MILLION,
    },
    {
      component: 'API Gateway',
      basis: `${requests} requests a payment, the callback among them`,
      usd: requests * PRICES.httpApiRequestMillion,
    },
    { component: 'SQS', basis: `${one(messages)} messages a payment, in a group`, usd: queueUsd(messages) },
    {
      component: 'Secrets Manager',
      basis: `one call for ${ASSUMPTIONS.deliveriesPerSecretRead} deliveries`,
      usd: secretCalls * PRICES.secretCallMillion,
    },
    {
      component: 'CloudWatch logs',
      basis: 'our lines measured, those of API Gateway assumed',
      usd: total(perPayment, (flow) => logUsd(flow, flow.invocations)) * MILLION,
    },
    {
      component: 'Storage, each month from then on',
      basis: `${one(storedBytesPerPayment / 1_000)} KB a payment in table and indexes, and their recovery`,
      usd:
        ((storedBytesPerPayment * MILLION) / BYTES_PER_GB) *
        (PRICES.dynamodbStorageGbMonth + PRICES.dynamodbRecoveryGbMonth),
    },
  ]
}

/** Dollars for a million deliveries that fail eight times. */
export const abandonedCosts = (template: Pick<StageTemplate, 'ofType'>, { abandoned }: Measured): CostLine => ({
  component: 'A million deliveries given up after eight attempts',
  basis: `${abandoned.invocations} invocations, ${abandoned.messages} messages, ${one(abandoned.writes)} writes, ${one(abandoned.reads)} reads each`,
  usd:
    abandoned.writes * PRICES.dynamodbWriteMillion +
    abandoned.reads * PRICES.dynamodbReadMillion +
    queueUsd(abandoned.messages) +
    (lambdaUsd(template, abandoned, abandoned.invocations) + logUsd(abandoned, abandoned.invocations)) * MILLION,
})

/** What comes besides, and what a stage's options add. */
export const optionCosts = ({ series }: Pick<Measured, 'series'>): readonly CostLine[] => {
  const hours = ASSUMPTIONS.hoursPerMonth
  const natBytes = (ASSUMPTIONS.webhookBytes * MILLION) / BYTES_PER_GB
  return [
    {
      component: 'each payment channel in use, a month',
      basis: `up to ${series.channel} metrics of our own`,
      usd: series.channel * PRICES.metricMonth,
    },
    {
      component: '`webhookEgress: nat`, each gateway, a month',
      basis: 'NAT gateway and its address',
      usd: hours * (PRICES.natHour + PRICES.publicAddressHour),
    },
    {
      component: '`webhookEgress: nat`, a million webhooks',
      basis: `${ASSUMPTIONS.webhookBytes / 1_000} KB each, assumed`,
      usd: natBytes * PRICES.natGb,
    },
    {
      component: '`front: cloudfront`, a month',
      basis: `web ACL with ${WEB_ACL_RULES} rules`,
      usd: PRICES.wafAclMonth + WEB_ACL_RULES * PRICES.wafRuleMonth,
    },
    {
      component: '`front: cloudfront`, a million requests',
      basis: 'WAF and CloudFront',
      usd: PRICES.wafRequestMillion + PRICES.cloudFrontRequestMillion,
    },
    { component: '`domain`, a month', basis: 'hosted zone', usd: PRICES.hostedZoneMonth },
    { component: 'each webhook endpoint, a month', basis: 'its secret', usd: PRICES.secretMonth },
    { component: 'a million alert mails', basis: 'SNS', usd: PRICES.snsEmailMillion },
  ]
}

const one = (value: number): string => value.toFixed(1)
