import type { AlarmGroup, AlarmSpec } from './alarm-spec.ts'
import { awsMetric, countOf, type Measure, type MetricRef, orZero } from './metric-ref.ts'

export type WatchedFront = {
  readonly distributionId: string
  readonly webAcl: string
  /** The firewall's rules, by their metric names. */
  readonly rules: readonly string[]
  readonly probe: string
  /** The certificate of the public name, and the one that the front shows to API Gateway. */
  readonly certificates: Readonly<Record<string, string>>
}

/**
 * The alarms of the front. CloudFront, its firewall and the probe write their metrics in the
 * front's region, so the alarms are there too.
 */
export function frontAlarms(front: WatchedFront): readonly AlarmGroup[] {
  const alarms = [
    probeFailing(front),
    frontErrors(front),
    ...frontBlocks(front),
    certificateEnds('certificate-ends', front.certificates),
  ]
  return [{ heading: 'Front', alarms }]
}

function probeFailing({ probe: FunctionName }: WatchedFront): AlarmSpec {
  const count = (name: 'Invocations' | 'Errors') =>
    awsMetric('AWS/Lambda', name, { FunctionName }, 'Sum')
  return {
    id: 'probe-failing',
    page: 'page-front',
    summary: 'The public name does not answer as it should, or the probe does not run.',
    impact: 'every merchant and every customer, and the callbacks of the provider.',
    measure: {
      formula: `${orZero('runs')} - ${orZero('errors')}`,
      metrics: { runs: count('Invocations'), errors: count('Errors') },
    },
    unit: 'good answers',
    when: { below: 1, minutes: 1, periods: 3, outOf: 5 },
    because: 'The probe runs every minute in another region. One lost request is no outage.',
    whenMissing: 'breaching',
  }
}

function frontErrors({ distributionId: DistributionId }: WatchedFront): AlarmSpec {
  const dimensions = { DistributionId, Region: 'Global' }
  return {
    id: 'front-errors',
    page: 'page-front',
    summary: 'CloudFront answers more than a tenth of the requests with a server error.',
    impact: 'merchants and their customers, and the callbacks of the provider.',
    measure: {
      formula: `IF(${orZero('requests')} >= 20, errors, 0)`,
      metrics: {
        requests: awsMetric('AWS/CloudFront', 'Requests', dimensions, 'Sum'),
        errors: awsMetric('AWS/CloudFront', '5xxErrorRate', dimensions, 'Average'),
      },
    },
    unit: 'percent of requests',
    when: { above: 10, minutes: 5, periods: 2 },
    because:
      'It needs twenty requests. Without `api-errors` the fault is between CloudFront and API ' +
      'Gateway: the origin’s name, certificate or secret.',
  }
}

/** Each refused callback delays money by 15 minutes. Other rules refuse scanners all day. */
function frontBlocks({ webAcl: WebACL, rules }: WatchedFront): readonly AlarmSpec[] {
  const count = (name: 'AllowedRequests' | 'BlockedRequests', Rule: string) =>
    awsMetric('AWS/WAFV2', name, { WebACL, Rule }, 'Sum')
  const share = (Rule: string, least: number): Measure => ({
    formula: `IF(${orZero('blocked')} >= ${least}, 100 * blocked / (${orZero('allowed')} + ${orZero('all')}), 0)`,
    metrics: {
      blocked: count('BlockedRequests', Rule),
      all: count('BlockedRequests', 'ALL'),
      allowed: count('AllowedRequests', 'ALL'),
    },
  })
  const both = { heading: 'front-blocks', unit: 'percent of requests' }
  return [
    {
      ...both,
      id: 'front-blocks',
      page: 'page-front',
      summary: 'The firewall refuses most of the requests.',
      impact: 'merchants and their customers: almost none is served.',
      measure: share('ALL', 20),
      when: { above: 80, minutes: 5, periods: 3 },
      because: 'It needs twenty refusals. A flood of one address alone can cause it too.',
    },
    ...rules.map((rule): AlarmSpec => {
      const isOfCallbacks = rule.startsWith('callbacks')
      return {
        ...both,
        id: `front-blocks-${rule}`,
        summary: `The rule ${rule} of the firewall refuses ${isOfCallbacks ? 'callbacks' : 'many requests'}.`,
        impact: 'the merchants, or the provider, whose requests look like an attack.',
        measure: share(rule, isOfCallbacks ? 1 : 50),
        when: { above: isOfCallbacks ? 0 : 5, minutes: 15, periods: isOfCallbacks ? 1 : 2 },
        because: isOfCallbacks
          ? 'One refused callback is too many: the provider repeats it a quarter of an hour later.'
          : 'It needs fifty refusals. Scanners alone rarely make up one request in twenty.',
      }
    }),
  ]
}

/** ACM writes the days twice a day, and stops at the end. Then the probe fails. */
export function certificateEnds(
  id: string,
  certificates: Readonly<Record<string, string>>,
): AlarmSpec {
  const metrics: Readonly<Record<string, MetricRef>> = Object.fromEntries(
    Object.entries(certificates).map(([what, CertificateArn]) => [
      what,
      awsMetric('AWS/CertificateManager', 'DaysToExpiry', { CertificateArn }, 'Minimum'),
    ]),
  )
  return {
    id,
    summary: `A certificate ends within ${RENEWED_DAYS} days.`,
    impact: 'all callers, from the day on which it ends.',
    measure: {
      formula: countOf(
        Object.keys(metrics).map((what) => `FILL(${what}, ${RENEWED_DAYS}) < ${RENEWED_DAYS}`),
      ),
      metrics,
    },
    unit: 'certificates',
    when: { atLeast: 1, minutes: 1_440, periods: 1 },
    because:
      'AWS renews its certificates 60 days before the end, while their proof is in the zone.',
  }
}

const RENEWED_DAYS = 30
