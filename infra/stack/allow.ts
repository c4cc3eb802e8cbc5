import { type IPrincipal, PolicyDocument, PolicyStatement, Role } from 'aws-cdk-lib/aws-iam'
import type { Construct } from 'constructs'

type Conditions = Record<string, Record<string, unknown>>

/** No statement without actions or resources. */
export function allow(
  actions: readonly string[],
  resources: readonly string[],
  conditions: Conditions = {},
) {
  return actions.length > 0 && resources.length > 0
    ? [new PolicyStatement({ actions: [...actions], resources: [...resources], conditions })]
    : []
}

/** Inline permissions: the role never exists without them. */
export function roleWith(scope: Construct, assumedBy: IPrincipal, statements: PolicyStatement[]) {
  return new Role(scope, 'Role', {
    assumedBy,
    inlinePolicies: { access: new PolicyDocument({ statements }) },
  })
}
