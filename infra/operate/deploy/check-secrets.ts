import type { Stack } from '@aws-sdk/client-cloudformation'
import { tokensToCopy } from '../../../shared/provider/split-provider-secret.ts'
import { callbackSecretName, providerSecretName } from '../../../shared/secrets.ts'
import type { AwsClients } from '../check/aws-clients.ts'
import {
  callbackSecretFinding,
  callbackSecretText,
  providerSecretFinding,
  providerSecretText,
} from '../check/check-provider-secrets.ts'
import { outputOf } from '../check/described-stack.ts'
import { type Finding, ok, tolerated, wrong } from '../check/finding.ts'
import { secretLeft } from './check-leftovers.ts'

/** Before the first deployment. */
export const SECRETS_TO_COME: readonly Finding[] = ['provider secret', 'callback secret'].map((what) =>
  ok(what, 'is made by this first deployment, and must be filled in after it'),
)

/**
 * The provider's secrets of a stack that is there. No deployment fills them in, and one that mends something else must
 * not wait for the provider's dashboard; but the one that gives callback tokens a secret of their own must find them fit
 * to be copied, and the name of the new secret free.
 */
export const checkSecrets = async (
  { secretsManager }: Pick<AwsClients, 'secretsManager'>,
  { stack, stageName }: { readonly stack: Stack; readonly stageName: string },
): Promise<readonly Finding[]> => {
  const text = await providerSecretText(secretsManager, stageName)
  const key = tolerated(providerSecretFinding(stageName, text))
  if (outputOf(stack, 'CallbackSecretName') !== undefined) {
    return [key, tolerated(callbackSecretFinding(stageName, await callbackSecretText(secretsManager, stageName)))]
  }
  const name = callbackSecretName(stageName)
  return [key, (await secretLeft(secretsManager, name)) ?? copyFinding(stageName, text)]
}

const copyFinding = (stageName: string, text: string | undefined): Finding => {
  const what = 'callback secret'
  const from = providerSecretName(stageName)
  const found = tokensToCopy(text)
  switch (found.kind) {
    case 'tokens':
      return ok(what, `the tokens in ${from} are copied before any function changes`)
    case 'none':
      return ok(what, `is made by this deployment, and must be filled in after it: ${from} has no tokens to copy`)
    case 'refused':
      return wrong(what, `${from}: ${found.because}`, 'exchange them first: docs/operations.md, "Rotating secrets"')
  }
}
