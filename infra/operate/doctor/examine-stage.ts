import { paginateListStackResources } from '@aws-sdk/client-cloudformation'
import type { DynamoDBClient } from '@aws-sdk/client-dynamodb'
import { GetAliasCommand } from '@aws-sdk/client-lambda'
import { functionName } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { mapInChunks } from '../../../shared/chunks.ts'
import { isOriginSecret } from '../../../shared/runtime/origin-guard.ts'
import { originSecretName } from '../../../shared/secrets.ts'
import {
  type DeployedStage,
  FRONT_REGION,
  hasAlias,
  LIVE_ALIAS,
  stackNameOf,
  tableNameOf,
} from '../../stack/stage.ts'
import { type AwsClients, outputOf } from '../check/aws-clients.ts'
import { checkAccountQuotas } from '../check/check-account.ts'
import { checkReferences } from '../check/check-references.ts'
import { originCertificateProblems } from '../check/check-settings.ts'
import { type Finding, findingsOrOk, ok, runCheck, wrong } from '../check/finding.ts'
import { checkPipelineRole } from '../check/pipeline-role.ts'
import { missingSettings } from '../restore/missing-settings.ts'
import {
  checkConcurrency,
  checkEventSources,
  checkOperatorFunctions,
  checkRoutes,
} from './check-functions.ts'
import { checkAlerts, checkDuties } from './check-people.ts'
import { checkProvider, checkSecret } from './check-provider.ts'
import { checkStack, type Examination } from './check-stack.ts'

/** Finds drift, and faults that raise no alarm, from outside. */
export async function examineStage(examination: Examination) {
  const { stage, aws } = examination
  const [data, gateway, operators] = await Promise.all([
    checkStack(examination, 'data stack', 'data'),
    checkStack(examination, 'stack'),
    checkStack(examination, 'stack of operators', 'operators'),
  ])
  const findings = [data, gateway, operators].flatMap((result) => result.findings)
  const dataStack = data.stack
  if (!dataStack || !gateway.stack || !operators.stack) return findings
  const apiUrl = outputOf(gateway.stack, 'ApiUrl')
  const groups = await Promise.all([
    checkProvider(examination, apiUrl),
    apiUrl === undefined ? [] : runCheck('routes', () => checkRoutes(apiUrl, stage.settings.name)),
    runCheck('operator functions', () => checkOperatorFunctions(aws.lambda, stage)),
    runCheck('functions', () => checkConcurrency(aws.lambda, stage)),
    checkAccountQuotas(aws, stage),
    checkDuties(aws.iam, operators.stack),
    runCheck('role of the pipeline', () => checkPipelineRole(aws.iam, stage.settings.name)),
    runCheck('event sources', () => checkEventSources(aws.lambda, stage)),
    runCheck('topics', () => checkAlerts(examination, dataStack)),
    checkStack(examination, 'watch stack', 'watch').then((result) => result.findings),
    checkCopies(examination),
    runCheck('aliases', () => checkAliases(aws, stage)),
    runCheck('references between stacks', () => checkReferences(aws, stage)),
    checkTable(aws.dynamodb, stage),
    stage.front === 'cloudfront' ? checkFront(examination) : [],
  ])
  return [...findings, ...groups.flat()]
}

/**
 * Finds a stage that is still closed, and missing settings of a restored table, whose drift no
 * stack detects.
 */
export async function checkTable(
  client: DynamoDBClient,
  stage: DeployedStage,
): Promise<readonly Finding[]> {
  const { name } = stage.settings
  const role =
    stage.role === 'open'
      ? []
      : [wrong('role', `${name} is closed`, 'docs/operations.md, "7. Restoring the table"')]
  if (stage.table.generation === stage.table.adopted) return role
  const TableName = tableNameOf(stage)
  const what = `table ${TableName}`
  const table = await runCheck(what, async () => {
    const settings = await missingSettings({ client, stage, TableName })
    const lacks = settings.map((setting) => setting.what).join(', ')
    return lacks === ''
      ? ok(what, 'as the stage’s file says')
      : wrong(what, `lacks: ${lacks}`, `npm run restore -- --stage ${name} --finish`)
  })
  return [...role, ...table]
}

/** The stack of the locked vault. The alarm about missing copies does not see the lock. */
async function checkCopies(examination: Examination): Promise<readonly Finding[]> {
  const { copies } = examination.stage
  const what = 'backup stack'
  if (copies === undefined) return []
  if (copies.account === undefined)
    return (await checkStack(examination, what, 'copies', copies.region)).findings
  const name = stackNameOf(examination.stage, 'copies')
  return [ok(what, `${name} is in account ${copies.account.id}, which these credentials miss`)]
}

/** The front's stack, its certificate, and the secret by which functions recognise the front. */
async function checkFront(examination: Examination) {
  const { stage, aws, nowMs } = examination
  const what = 'origin certificate'
  const { originCertificate } = stage.frontSettings
  const [{ findings }, secret, certificate] = await Promise.all([
    checkStack(examination, 'front stack', 'front', FRONT_REGION),
    checkSecret(aws.secretsManager, {
      what: 'origin secret',
      name: originSecretName(stage.settings.name),
      isValid: isOriginSecret,
      form: '{"current": "..."}, 32 to 1,024 printable ASCII characters without spaces',
      where: 'docs/operations.md, "4. Rotating secrets"',
    }),
    runCheck(what, async () => {
      if (!originCertificate)
        return ok(what, 'none: functions refuse requests that did not come through the front')
      const problems = originCertificateProblems(originCertificate, nowMs())
      if (problems.length === 0) return ok(what, `${originCertificate.authority} is valid`)
      return wrong(what, problems.join('; '), 'docs/operations.md, "The front\'s certificate"')
    }),
  ])
  return [...findings, ...secret.findings, ...certificate]
}

const AT_ONCE = 5

/**
 * Each alias must serve the version of its stack alone. After a rollback by hand it serves an
 * earlier version, and CodeDeploy refuses the next canary of that function.
 */
async function checkAliases(
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
    for (const { PhysicalResourceId: arn = '' } of resources) {
      const [, name, version] = /:function:([^:]+):(\d+)$/.exec(arn) ?? []
      if (name && version) versions.set(name, version)
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
  return findingsOrOk(findings.flat(), 'aliases', 'all serve the versions of the stack')
}
