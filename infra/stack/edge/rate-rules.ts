import type { CfnWebACL } from 'aws-cdk-lib/aws-wafv2'
import { routeKeyOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { bearerPattern } from '../../../shared/client/api-key-store.ts'
import { CREATE_ROUTE, throttleOf } from '../settings/route-settings.ts'
import type { DeployedStage } from '../stage.ts'

/** The firewall's shortest window: an address may use its whole share at once. */
const WINDOW_SECONDS = 60
/** AWS accepts no lower limit. */
const LEAST_LIMIT = 10

export const CALLBACK_PATHS = MANIFEST.flatMap(({ trigger }) =>
  trigger.kind === 'http' && trigger.path.startsWith('/callbacks/') ? [trigger.path] : [],
)

type Statement = CfnWebACL.StatementProperty

type RateRule = {
  readonly name: string
  /** The requests of one address in a window. */
  readonly limit: (stage: DeployedStage) => number
  readonly scope: () => Statement
  /** Addresses that merchants have registered are not counted. */
  readonly exceptMerchants: boolean
}

/**
 * Callbacks are counted apart: a merchant's flood must not refuse the provider, because each
 * refused callback delays money by 15 minutes, nor the reverse. Creates are counted twice: their
 * route costs most and has the lowest throttle.
 */
const RATE_RULES: readonly RateRule[] = [
  {
    name: 'callbacks-per-address',
    limit: callbackLimit,
    scope: () => pathStatement(CALLBACK_PATHS),
    exceptMerchants: false,
  },
  {
    name: 'creates-per-address',
    limit: (stage) => shareOf(stage, (routeKey) => routeKey === CREATE_ROUTE),
    scope: createRequests,
    exceptMerchants: true,
  },
  {
    name: 'requests-per-address',
    limit: (stage) =>
      shareOf(stage, (routeKey) => routeKey !== CREATE_ROUTE && !isCallback(routeKey)),
    scope: () => notStatement(pathStatement(CALLBACK_PATHS)),
    exceptMerchants: true,
  },
]

/**
 * Refuses an address that sends too many requests, in the envelope of spec section 7. For the
 * addresses of `merchantSet` only the limits of clients apply.
 */
export function rateRules(stage: DeployedStage, merchantSet?: string): CfnWebACL.RuleProperty[] {
  return RATE_RULES.map((rule, at) => ({
    name: rule.name,
    priority: at + 1,
    action: {
      block: {
        customResponse: {
          responseCode: 429,
          customResponseBodyKey: 'rate_limit',
          responseHeaders: [{ name: 'Retry-After', value: String(WINDOW_SECONDS) }],
        },
      },
    },
    statement: {
      rateBasedStatement: {
        aggregateKeyType: 'IP',
        limit: Math.max(LEAST_LIMIT, Math.floor(rule.limit(stage))),
        evaluationWindowSec: WINDOW_SECONDS,
        scopeDownStatement: exceptAddresses(
          rule.scope(),
          rule.exceptMerchants ? merchantSet : undefined,
        ),
      },
    },
    visibilityConfig: visibility(rule.name),
  }))
}

export const RATE_RULE_NAMES: readonly string[] = RATE_RULES.map(({ name }) => name)

/** The provider tells the status of the payment, and that of its payment request. */
const CALLBACKS_A_PAYMENT = 2
/** One minute may have the callbacks of two minutes of creates. */
const CALLBACK_RESERVE = 2

/**
 * All callbacks may come from one address, so its limit follows the creates of the stage: in
 * production 88 a second, so 21,120 callbacks a minute.
 */
function callbackLimit(stage: DeployedStage) {
  const { requestsPerSecond } = throttleOf(stage, CREATE_ROUTE)
  return CALLBACKS_A_PAYMENT * CALLBACK_RESERVE * requestsPerSecond * WINDOW_SECONDS
}

/**
 * A share of the route with the lowest throttle. In production creates take 5,280 requests a
 * minute, and an address gets a tenth, 528: it can fill the route for six seconds of a minute, and
 * ten addresses can keep it full. The tenth of the lowest other route is 1,800.
 */
function shareOf(stage: DeployedStage, counts: (routeKey: string) => boolean) {
  const rates = MANIFEST.flatMap((spec) => routeKeyOf(spec) ?? [])
    .filter(counts)
    .map((routeKey) => throttleOf(stage, routeKey).requestsPerSecond)
  return Math.min(...rates) * stage.frontSettings.addressShare * WINDOW_SECONDS
}

function exceptAddresses(scope: Statement, arn: string | undefined): Statement {
  return arn === undefined
    ? scope
    : allOf(scope, notStatement({ ipSetReferenceStatement: { arn } }))
}

function allOf(...statements: Statement[]): Statement {
  return { andStatement: { statements } }
}

export function notStatement(statement: Statement): Statement {
  return { notStatement: { statement } }
}

export function visibility(metricName: string) {
  return {
    cloudWatchMetricsEnabled: true,
    metricName,
    // A sample would show headers that the log leaves out.
    sampledRequestsEnabled: false,
  }
}

/** The paths as they were sent. A callback with another spelling reaches no callback route. */
export function pathStatement(paths: readonly string[]): Statement {
  const [first, ...others] = paths.map((path) => byteMatch({ uriPath: {} }, path, ['NONE']))
  if (!first) throw new Error('the manifest has no callback path')
  return others.length > 0 ? { orStatement: { statements: [first, ...others] } } : first
}

function byteMatch(
  fieldToMatch: CfnWebACL.FieldToMatchProperty,
  searchString: string,
  transformations: readonly string[],
): Statement {
  return {
    byteMatchStatement: {
      fieldToMatch,
      positionalConstraint: 'EXACTLY',
      searchString,
      textTransformations: transformations.map((type, priority) => ({ priority, type })),
    },
  }
}

const CREATES_WITHOUT_KEY = 'creates-without-key'

/**
 * The 401 of spec section 5 for a create without a key of this stage's form. Needs no function and
 * no read, and counts against no address.
 */
export function createsWithoutKey({ settings }: DeployedStage): CfnWebACL.RuleProperty {
  return {
    name: CREATES_WITHOUT_KEY,
    priority: 0,
    action: { block: { customResponse: { responseCode: 401, customResponseBodyKey: 'auth' } } },
    statement: allOf(
      createRequests(),
      notStatement({
        regexMatchStatement: {
          fieldToMatch: { singleHeader: { Name: 'authorization' } },
          regexString: bearerPattern(settings.name),
          textTransformations: [{ priority: 0, type: 'NONE' }],
        },
      }),
    ),
    visibilityConfig: visibility(CREATES_WITHOUT_KEY),
  }
}

/** Any spelling of the path. The rule may count too many requests, never too few. */
function createRequests(): Statement {
  const [method = '', path = ''] = CREATE_ROUTE.split(' ')
  const spelled = byteMatch({ uriPath: {} }, path, ['URL_DECODE', 'NORMALIZE_PATH'])
  return allOf(byteMatch({ method: {} }, method, ['NONE']), spelled)
}

function isCallback(routeKey: string) {
  return CALLBACK_PATHS.some((path) => routeKey.endsWith(` ${path}`))
}
