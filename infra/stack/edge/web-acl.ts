import { RemovalPolicy } from 'aws-cdk-lib'
import { CfnIPSet, CfnLoggingConfiguration, CfnWebACL } from 'aws-cdk-lib/aws-wafv2'
import { Construct } from 'constructs'
import { invalidCredentials } from '../../../shared/client/authenticate.ts'
import { toErrorReply } from '../../../shared/errors.ts'
import type { DeployedStage } from '../stage.ts'
import { addLog, bareArn } from '../stage-stack.ts'
import {
  CALLBACK_PATHS,
  createsWithoutKey,
  notStatement,
  pathStatement,
  RATE_RULE_NAMES,
  rateRules,
  visibility,
} from './rate-rules.ts'

/**
 * Descriptions and metadata may have any text, in bodies of 64 KB (spec 4.1), and no such text gets
 * into a page, a shell or a query. Programs need no `User-Agent`. A lookup by a key of 255
 * characters has a query of up to 3,060 bytes.
 */
const ONLY_COUNTED = [
  'SizeRestrictions_QUERYSTRING',
  'SizeRestrictions_BODY',
  'CrossSiteScripting_BODY',
  'GenericRFI_BODY',
  'GenericLFI_BODY',
  'EC2MetaDataSSRF_BODY',
  'NoUserAgent_HEADER',
]
const BODIES_COUNTED = ['JavaDeserializationRCE_BODY', 'Log4JRCE_BODY', 'ReactJSRCE_BODY']

type ManagedRules = {
  readonly name: string
  readonly counted: readonly string[]
  readonly version?: string
}

/**
 * A version never changes, so AWS's next rules refuse no merchant before a person has chosen them
 * (docs/operations.md, section 2). Lists of addresses have no versions.
 */
const MANAGED: readonly ManagedRules[] = [
  { name: 'AWSManagedRulesAmazonIpReputationList', counted: [] },
  {
    name: 'AWSManagedRulesKnownBadInputsRuleSet',
    counted: BODIES_COUNTED,
    version: 'Version_1.26',
  },
  { name: 'AWSManagedRulesCommonRuleSet', counted: ONLY_COUNTED, version: 'Version_1.23' },
]

/** Never logged: the caller's key, the provider's token, and the query. */
const REDACTED = [
  ...['authorization', 'x-callback-token', 'cookie', 'idempotency-key'].map((Name) => ({
    singleHeader: { Name },
  })),
  { uriPath: {} },
  { queryString: {} },
]

export class WebAcl extends Construct {
  readonly arn: string
  readonly name: string
  /** The metric names of the rules. */
  readonly rules: readonly string[]

  constructor(scope: Construct, id: string, stage: DeployedStage) {
    super(scope, id)
    const name = `gateway-${stage.settings.name}`
    const rules = [
      createsWithoutKey(stage),
      ...rateRules(stage, this.merchantSet(stage)),
      ...managedRules(),
    ]
    this.name = name
    this.rules = rules.map((rule) => rule.name)
    const acl = new CfnWebACL(this, 'Acl', {
      name,
      scope: 'CLOUDFRONT',
      defaultAction: { allow: {} },
      visibilityConfig: visibility(name),
      customResponseBodies: {
        rate_limit: {
          contentType: 'APPLICATION_JSON',
          // The envelope of spec section 7, which clients parse.
          content: JSON.stringify({
            message: 'too many requests from this address',
            code: 'rate_limit',
          }),
        },
        auth: {
          contentType: 'APPLICATION_JSON',
          content: JSON.stringify(toErrorReply(invalidCredentials()).body),
        },
      },
      rules,
    })
    this.arn = acl.attrArn
    this.logRefusals(name, acl)
  }

  private merchantSet({ settings, frontSettings }: DeployedStage) {
    const addresses = [...frontSettings.merchantAddresses]
    if (addresses.length === 0) return undefined
    const name = `gateway-${settings.name}-merchants`
    return new CfnIPSet(this, 'Merchants', {
      name,
      scope: 'CLOUDFRONT',
      ipAddressVersion: 'IPV4',
      addresses,
    }).attrArn
  }

  /** Requests that reach the API are in the API's own log. */
  private logRefusals(name: string, acl: CfnWebACL) {
    // The firewall requires this prefix. A kept log's name would prevent a new front.
    const log = addLog(this, `aws-waf-logs-${name}`, RemovalPolicy.DESTROY)
    const keep = (action: string) => ({
      Behavior: 'KEEP',
      Requirement: 'MEETS_ANY',
      Conditions: [{ ActionCondition: { Action: action } }],
    })
    new CfnLoggingConfiguration(this, 'Logging', {
      resourceArn: acl.attrArn,
      logDestinationConfigs: [bareArn(log)],
      redactedFields: REDACTED,
      loggingFilter: {
        DefaultBehavior: 'DROP',
        Filters: [keep('BLOCK'), keep('COUNT'), keep('EXCLUDED_AS_COUNT')],
      },
    })
  }
}

function managedRules(): CfnWebACL.RuleProperty[] {
  return MANAGED.map(({ name, counted, version }, at) => ({
    name,
    priority: 1 + RATE_RULE_NAMES.length + at,
    overrideAction: { none: {} },
    statement: {
      managedRuleGroupStatement: {
        vendorName: 'AWS',
        name,
        version,
        // A refused callback delays money, and the token protects callbacks.
        scopeDownStatement: notStatement(pathStatement(CALLBACK_PATHS)),
        ruleActionOverrides: counted.map((rule) => ({ name: rule, actionToUse: { count: {} } })),
      },
    },
    visibilityConfig: visibility(name),
  }))
}
