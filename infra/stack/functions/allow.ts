import { type IPrincipal, PolicyDocument, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam'
import type { Construct } from 'constructs'

type Conditions = Record<string, Record<string, unknown>>

/**
 * The statement that allows these actions on these resources. Without actions or resources there is
 * no statement.
 */
export function allow(
  actions: readonly string[],
  resources: readonly string[],
  conditions: Conditions = {},
): PolicyStatement[] {
  return actions.length > 0 && resources.length > 0
    ? [new PolicyStatement({ actions: [...actions], resources: [...resources], conditions })]
    : []
}

/** A role with inline permissions, so that the role never exists without its permissions. */
export function roleWith(
  scope: Construct,
  assumedBy: IPrincipal,
  statements: PolicyStatement[],
): Role {
  return new Role(scope, 'Role', {
    assumedBy,
    inlinePolicies: { access: new PolicyDocument({ statements }) },
  })
}
