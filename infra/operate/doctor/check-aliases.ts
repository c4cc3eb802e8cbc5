import { paginateListStackResources } from '@aws-sdk/client-cloudformation'
import { GetAliasCommand } from '@aws-sdk/client-lambda'
import { functionName } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { mapInChunks } from '../../../shared/chunks.ts'
import { hasAlias, LIVE_ALIAS, stackNameOf } from '../../stack/stack-name-of.ts'
import type { DeployedStage } from '../../stack/stage.ts'
import type { AwsClients } from '../check/aws-clients.ts'
import { type Finding, ok, runCheck, wrong } from '../check/finding.ts'

const AT_ONCE = 5

/**
 * Whether each alias serves the version of its stack alone. After a rollback by hand it serves an
 * earlier version, and CodeDeploy refuses the next canary of that function.
 */
export async function checkAliases(
  { lambda, cloudFormation: client }: Pick<AwsClients, 'lambda' | 'cloudFormation'>,
  stage: DeployedStage,
): Promise<readonly Finding[]> {
  const specs = MANIFEST.filter((spec) => hasAlias(spec, stage))
  if (specs.length === 0) return []
  const versions = new Map<string, string>()
  const input = { StackName: stackNameOf(stage) }
  for await (const { StackResourceSummaries: resources = [] } of paginateListStackResources(
    { client, stopOnSameToken: true },
    input,
  )) {
    for (const { ResourceType: type, PhysicalResourceId: arn = '' } of resources) {
      const [, name, version] = /:function:([^:]+):(\d+)$/.exec(arn) ?? []
      if (type === 'AWS::Lambda::Version' && name && version) versions.set(name, version)
    }
  }
  const findings = await mapInChunks(specs, AT_ONCE, (spec) => {
    const FunctionName = functionName(stage.settings.name, spec)
    const what = `alias of ${FunctionName}`
    return runCheck(what, async () => {
      const alias = await lambda.send(new GetAliasCommand({ FunctionName, Name: LIVE_ALIAS }))
      const others = Object.keys(alias.RoutingConfig?.AdditionalVersionWeights ?? {})
      const served = [alias.FunctionVersion ?? 'none', ...others].join(' and ')
      const expected = versions.get(FunctionName)
      if (served === expected) return []
      return wrong(
        what,
        `serves version ${served}; its stack has version ${expected ?? 'unknown'}`,
        'docs/runbook.md, "Roll back"; during a deployment wait for its end',
      )
    })
  })
  const all = findings.flat()
  return all.length > 0 ? all : [ok('aliases', 'all serve the versions of the stack')]
}
