import { MANIFEST } from '../../../functions/manifest.ts'
import { readCallbackTokens } from '../../../shared/provider/callback-secret.ts'
import { tokensToCopy } from '../../../shared/provider/split-provider-secret.ts'
import { xenditProvider } from '../../../shared/provider/xendit/xendit.ts'
import { ENV, readConfig } from '../../../shared/runtime/config.ts'
import { providerSecretName } from '../../../shared/secrets.ts'
import type { DeployedStage } from '../../stack/stage.ts'
import type { StageTemplate } from '../../stack/stage-template.ts'
import type { AwsClients } from '../check/aws-clients.ts'
import { checkAccountConcurrency } from '../check/check-account-concurrency.ts'
import {
  callbackSecretFinding,
  callbackSecretText,
  providerSecretFinding,
  providerSecretText,
} from '../check/check-provider-secrets.ts'
import { describedStack, outputOf, wasCreated } from '../check/deployed-stack.ts'
import { type Finding, wrong } from '../check/finding.ts'
import { look } from '../check/look.ts'
import { stackFinding } from '../check/stack-status.ts'
import { checkAlerts } from './check-alerts.ts'
import { checkCallback } from './check-callback.ts'
import { checkFront } from './check-front.ts'
import { checkFunctions } from './check-functions.ts'
import { checkProviderKey } from './check-provider.ts'
import { checkQueues } from './check-queues.ts'
import { checkTable } from './check-table.ts'
import { checkEventSources, checkSchedules } from './check-triggers.ts'

export type Examination = {
  readonly stage: DeployedStage
  readonly template: StageTemplate
  readonly aws: AwsClients
  readonly nowMs: () => number
  /** The provider's address; undefined is the one the functions use. */
  readonly providerUrl?: string
}

/** Looks at a deployed stage from outside and compares it with what the stack says. Changes nothing. */
export const examineStage = async (examination: Examination): Promise<readonly Finding[]> => {
  const { template, aws } = examination
  let apiUrl: string | undefined
  let settled = false
  const stack = await look('stack', async () => {
    const found = await describedStack(aws.cloudFormation, template.stackName)
    if (!found) return wrong('stack', `${template.stackName} is not deployed here`, 'npm run deploy, or another region')
    // While a deployment is under way the stage is neither as it was nor as it will be.
    settled = wasCreated(found) && !found.StackStatus?.endsWith('_IN_PROGRESS')
    apiUrl = outputOf(found, 'ApiUrl')
    return stackFinding('stack', found)
  })
  if (!settled) return stack
  const groups = await Promise.all([
    look('provider secret', () => checkProvider(examination, apiUrl)),
    look('table', () => checkTable(aws, template)),
    look('queues', () => checkQueues(aws.sqs, template)),
    look('functions', () => checkFunctions(aws.lambda, template)),
    look('account concurrency', () => checkAccountConcurrency(aws.lambda, examination.stage)),
    look('event sources', () => checkEventSources(aws, template)),
    look('schedules', () => checkSchedules(aws, template)),
    look('front', () => checkFront(aws, examination.stage, examination.nowMs())),
    look('topics', () => checkAlerts(aws, template)),
  ])
  return [...stack, ...groups.flat()]
}

const CALLBACK_PATH = MANIFEST.flatMap(({ name, trigger }) =>
  name === 'receive-provider-callback' && trigger.kind === 'http' ? [trigger.path] : [],
).join('')

/** Without a secret of the right form there is neither a key to try nor a token to knock with. */
const checkProvider = async (
  { stage: { settings }, aws, nowMs, providerUrl }: Examination,
  apiUrl: string | undefined,
): Promise<readonly Finding[]> => {
  const [keyText, tokensText] = await Promise.all([
    providerSecretText(aws.secretsManager, settings.name),
    callbackSecretText(aws.secretsManager, settings.name),
  ])
  const secret = providerSecretFinding(settings.name, keyText)
  const callbackSecret = callbackSecretFinding(settings.name, tokensText)
  const tokens =
    callbackSecret.state === 'ok' ? await readCallbackTokens({ get: async () => tokensText }, settings.name) : []
  const secrets = { get: async () => keyText }
  const baseUrl = providerUrl ?? readConfig({ [ENV.stage]: settings.name, [ENV.table]: 'any' }).providerUrl
  const [callback, key] = await Promise.all([
    apiUrl === undefined
      ? [wrong('callback URL', 'the stack has no output ApiUrl', 'npm run deploy')]
      : look('callback URL', () => checkCallback({ url: `${apiUrl}${CALLBACK_PATH}`, tokens, nowMs })),
    secret.state === 'ok'
      ? look('provider key', () =>
          checkProviderKey(xenditProvider({ baseUrl, stage: settings.name, secrets, nowMs: Date.now })),
        )
      : [],
  ])
  return [secret, ...tokensLeft(settings.name, keyText), callbackSecret, ...callback, ...key]
}

/** What an older release left for itself to go back to. */
const tokensLeft = (stageName: string, text: string | undefined): readonly Finding[] =>
  tokensToCopy(text).kind === 'none'
    ? []
    : [
        wrong(
          'provider secret',
          `${providerSecretName(stageName)} still holds callback tokens, which many functions may read`,
          'take them out when the release before is no longer needed: docs/operations.md, "Rotating secrets"',
        ),
      ]
