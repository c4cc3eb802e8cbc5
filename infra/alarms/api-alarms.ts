import type { AlarmSpec } from './alarm-spec.ts'
import { awsMetric, orZero } from './metric-ref.ts'
import type { Watched } from './watched.ts'

/** The HTTP API as its callers see it, whoever is to blame. */
export const apiAlarms = ({ apiId }: Watched): readonly AlarmSpec[] => [
  {
    id: 'api-errors',
    severity: 'page',
    says: 'More than one in twenty requests is answered with a server error.',
    suffers: 'merchants, and the provider’s callbacks.',
    measure: {
      formula: `IF(requests >= 20, 100 * ${orZero('errors')} / requests, 0)`,
      of: {
        errors: awsMetric('AWS/ApiGateway', '5xx', { ApiId: apiId }, 'Sum'),
        requests: awsMetric('AWS/ApiGateway', 'Count', { ApiId: apiId }, 'Sum'),
      },
    },
    is: 'above',
    threshold: 5,
    because: 'Percent of at least twenty requests. Includes what never reached us: throttled functions and timeouts.',
    periodMinutes: 5,
    periods: 2,
    outOf: 3,
    whenMissing: 'notBreaching',
  },
  {
    id: 'api-slow',
    severity: 'ticket',
    says: 'One request in a hundred takes more than ten seconds.',
    suffers: 'merchants and customers, who wait for a payment to be created.',
    measure: awsMetric('AWS/ApiGateway', 'Latency', { ApiId: apiId }, 'p99'),
    is: 'above',
    threshold: 10_000,
    because: 'Milliseconds at the 99th percentile. A create waits for the provider, 12 s at most; reads take far less.',
    periodMinutes: 5,
    periods: 3,
    whenMissing: 'notBreaching',
  },
]
