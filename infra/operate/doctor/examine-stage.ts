import { MANIFEST } from '../../../functions/manifest.ts'
import { callbackSecretProblems, readCallbackTokens } from '../../../shared/provider/callback-secret.ts'
import { providerSecretProblems } from '../../../shared/provider/provider-secret.ts'
import { chosenProvider } from '../../../shared/runtime/chosen-provider.ts'
import { isOriginSecret } from '../../../shared/runtime/origin-guard.ts'
import { callbackSecretName, originSecretName, providerSecretName } from '../../../shared/secrets.ts'
import { stackNameOf } from '../../stack/stack-name-of.ts'
import { type DeployedStage, hasAlarms } from '../../stack/stage.ts'
import type { AwsClients } from '../check/aws-clients.ts'
import { checkAccountQuotas } from '../check/check-account-quotas.ts'
import { outputOf } from '../check/described-stack.ts'
import { type Finding, ok, wrong } from '../check/finding.ts'
import { originCertificateProblems } from '../check/origin-certificate-problems.ts'
import { runCheck } from '../check/run-check.ts'
import { checkAlerts } from './check-alerts.ts'
import { checkCallback } from './check-callback.ts'
import { checkConcurrency } from './check-concurrency.ts'
import { checkDuties } from './check-duties.ts'
import { checkEventSources } from './check-event-sources.ts'
import { checkOperatorFunctions, checkRoutes } from './check-functions.ts'
import { checkProviderKey } from './check-provider-key.ts'
import { checkSecret } from './check-secret.ts'
import { checkStack, type Waiting } from './check-stack.ts'
import { checkTable } from './check-table.ts'

export type Examination = Waiting & {
  readonly stage: DeployedStage
  readonly aws: AwsClients
  /** The provider's address; undefined is the one the functions use. */
  readonly providerUrl?: string
}

/** Looks at a deployed stage from outside: for what no alarm says, and for what CloudFormation says when it is asked. */
export const examineStage = async (examination: Examination): Promise<readonly Finding[]> => {
  const { stage, aws } = examination
  const [data, gateway, operators] = await Promise.all([
    lookAt(examination, 'data stack', stackNameOf(stage, 'data')),
    lookAt(examination, 'stack', stackNameOf(stage)),
    lookAt(examination, 'stack of operators', stackNameOf(stage, 'operators')),
  ])
  const findings = [data, gateway, operators].flatMap((looked) => looked.findings)
  const [kept, running, operated] = [data.stack, gateway.stack, operators.stack]
  if (!kept || !running || !operated) return findings
  const apiUrl = outputOf(running, 'ApiUrl')
  const groups = await Promise.all([
    checkProvider(examination, apiUrl),
    apiUrl === undefined ? [] : runCheck('routes', () => checkRoutes(apiUrl, stage.settings.name)),
    runCheck('operator functions', () => checkOperatorFunctions(aws.lambda, stage)),
    runCheck('functions', () => checkConcurrency(aws.lambda, stage)),
    checkAccountQuotas(aws, stage),
    checkDuties(aws.iam, operated),
    runCheck('event sources', () => checkEventSources(aws.lambda, stage)),
    runCheck('topics', () => checkAlerts(aws.sns, kept, hasAlarms(stage))),
    checkWatch(examination),
    checkTable(aws.dynamodb, stage),
    stage.front === 'cloudfront' ? checkFront(examination) : [],
  ])
  return [...findings, ...groups.flat()]
}

const lookAt = ({ aws, nowMs, sleep }: Examination, what: string, StackName: string) =>
  checkStack(aws.cloudFormation, { what, StackName, nowMs, sleep })

/** The stack of alarms and dashboard. */
const checkWatch = async (examination: Examination): Promise<readonly Finding[]> =>
  (await lookAt(examination, 'watch stack', stackNameOf(examination.stage, 'watch'))).findings

/** The front's stack, what it shows to the API, and the secret by which the functions know what came through it. */
const checkFront = async ({ stage, aws, nowMs, sleep }: Examination): Promise<readonly Finding[]> => {
  const what = 'origin certificate'
  const { originCertificate } = stage.frontSettings
  const [{ findings }, secret, certificate] = await Promise.all([
    checkStack(aws.globalCloudFormation, { what: 'front stack', StackName: stackNameOf(stage, 'front'), nowMs, sleep }),
    checkSecret(aws.secretsManager, {
      what: 'origin secret',
      name: originSecretName(stage.settings.name),
      problemsIn: (text) => (isOriginSecret(text) ? [] : ['is malformed: every request is refused']),
      todo: 'put {"current": "..."} of 32 to 1,024 printable characters: docs/operations.md, "4. Rotating secrets"',
    }),
    runCheck(what, async () => {
      if (!originCertificate) return ok(what, 'none: functions refuse what did not come through the front')
      const problems = originCertificateProblems(originCertificate, nowMs())
      if (problems.length === 0) return ok(what, `${originCertificate.authority} is valid`)
      return wrong(what, problems.join('; '), 'docs/operations.md, "The front\'s certificate"')
    }),
  ])
  return [...findings, ...secret.findings, ...certificate]
}

const CALLBACK_PATH = MANIFEST.flatMap(({ name, trigger }) =>
  name === 'receive-provider-callback' && trigger.kind === 'http' ? [trigger.path] : [],
).join('')

/** Without a secret of the right form there is neither a key to try nor a token to knock with. */
const checkProvider = async (
  { stage: { settings }, aws, nowMs, providerUrl }: Examination,
  apiUrl: string | undefined,
): Promise<readonly Finding[]> => {
  const where = 'docs/operations.md, "3. The provider"'
  const [key, callback] = await Promise.all([
    checkSecret(aws.secretsManager, {
      what: 'provider secret',
      name: providerSecretName(settings.name),
      problemsIn: providerSecretProblems,
      todo: `put {"secret_key": "..."} there: ${where}`,
    }),
    checkSecret(aws.secretsManager, {
      what: 'callback secret',
      name: callbackSecretName(settings.name),
      problemsIn: callbackSecretProblems,
      todo: `put {"callback_tokens": ["..."]} there: ${where}`,
    }),
  ])
  const tokens = callback.text ? await readCallbackTokens({ get: async () => callback.text }, settings.name) : []
  const secrets = { get: async () => key.text }
  const provider = chosenProvider({ baseUrl: providerUrl, stage: settings.name, secrets, nowMs })
  const [knocks, answers] = await Promise.all([
    apiUrl === undefined
      ? [wrong('callback URL', 'the stack has no output ApiUrl', 'npm run deploy')]
      : runCheck('callback URL', () => checkCallback({ url: `${apiUrl}${CALLBACK_PATH}`, tokens, nowMs })),
    key.text === undefined ? [] : runCheck('provider key', () => checkProviderKey(provider)),
  ])
  return [...key.findings, ...callback.findings, ...knocks, ...answers]
}
