import type { CfnWebACL } from 'aws-cdk-lib/aws-wafv2'
import { CALLBACK_PATHS, exactly, RATE_RULE_NAMES, visible } from './rate-rules.ts'

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

export const managedRules = (): CfnWebACL.RuleProperty[] =>
  MANAGED.map(({ name, counted }, at) => ({
    name,
    priority: RATE_RULE_NAMES.length + at,
    overrideAction: { none: {} },
    statement: {
      managedRuleGroupStatement: {
        vendorName: 'AWS',
        name,
        // AWS changes these rules under us, and a callback that is refused delays money: ours is checked by its token.
        scopeDownStatement: { notStatement: { statement: exactly(CALLBACK_PATHS) } },
        ruleActionOverrides: counted.map((rule) => ({ name: rule, actionToUse: { count: {} } })),
      },
    },
    visibilityConfig: visible(name),
  }))
