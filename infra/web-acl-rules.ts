import type { CfnWebACL } from 'aws-cdk-lib/aws-wafv2'
import { MANIFEST } from '../functions/manifest.ts'

const WINDOW_SECONDS = 300

/**
 * Rules of AWS's common set that are only counted. Descriptions, metadata and return URLs may hold any text (spec 4.1)
 * and bodies 256 KB, of which the firewall reads the first 16: what is dangerous to a web page is an order's note here,
 * and nothing here is put into a page, a shell or a query. Programs need not name themselves in a `User-Agent`.
 */
const ONLY_COUNTED = [
  'SizeRestrictions_BODY',
  'CrossSiteScripting_BODY',
  'GenericRFI_BODY',
  'GenericLFI_BODY',
  'EC2MetaDataSSRF_BODY',
  'NoUserAgent_HEADER',
]

const MANAGED: readonly { readonly name: string; readonly counted: readonly string[] }[] = [
  { name: 'AWSManagedRulesAmazonIpReputationList', counted: [] },
  { name: 'AWSManagedRulesKnownBadInputsRuleSet', counted: [] },
  { name: 'AWSManagedRulesCommonRuleSet', counted: ONLY_COUNTED },
]

/** The provider's news comes from few addresses and in floods, and every refusal delays money by 15 minutes. No rule looks at it. */
const UNLIMITED_PATHS = MANIFEST.flatMap(({ trigger }) =>
  trigger.kind === 'http' && trigger.path.startsWith('/callbacks/') ? [trigger.path] : [],
)

const visible = (metricName: string) => ({
  cloudWatchMetricsEnabled: true,
  metricName,
  // A sample shows headers, also those that the log leaves out.
  sampledRequestsEnabled: false,
})

/** Refuses an address that asks too often, in the envelope of spec section 7, except at the provider's callbacks. */
export const rateRule = (requestsPerAddress: number): CfnWebACL.RuleProperty => ({
  name: 'requests-per-address',
  priority: 0,
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
      limit: requestsPerAddress,
      evaluationWindowSec: WINDOW_SECONDS,
      scopeDownStatement: { notStatement: { statement: exactly(UNLIMITED_PATHS) } },
    },
  },
  visibilityConfig: visible('requests-per-address'),
})

const exactly = (paths: readonly string[]): CfnWebACL.StatementProperty => {
  const [first, ...others] = paths.map((searchString) => ({
    byteMatchStatement: {
      fieldToMatch: { uriPath: {} },
      positionalConstraint: 'EXACTLY',
      searchString,
      // As it was sent: an address that spells the path otherwise is answered by no callback route either.
      textTransformations: [{ priority: 0, type: 'NONE' }],
    },
  }))
  if (!first) throw new Error('the manifest has no callback path')
  return others.length > 0 ? { orStatement: { statements: [first, ...others] } } : first
}

export const managedRules = (): CfnWebACL.RuleProperty[] =>
  MANAGED.map(({ name, counted }, at) => ({
    name,
    priority: at + 1,
    overrideAction: { none: {} },
    statement: {
      managedRuleGroupStatement: {
        vendorName: 'AWS',
        name,
        // AWS changes these rules under us, and a callback that is refused delays money: ours is checked by its token.
        scopeDownStatement: { notStatement: { statement: exactly(UNLIMITED_PATHS) } },
        ruleActionOverrides: counted.map((rule) => ({ name: rule, actionToUse: { count: {} } })),
      },
    },
    visibilityConfig: visible(name),
  }))
