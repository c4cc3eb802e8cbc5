import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { providerSecretProblems } from '../../shared/provider/provider-secret.ts'
import { providerSecretName } from '../../shared/secrets.ts'
import { type Finding, ok, wrong } from './finding.ts'
import { secretText } from './secret-text.ts'

/** The provider's stored text, or undefined when there is none. */
export const providerSecretText = (client: SecretsManagerClient, stageName: string): Promise<string | undefined> =>
  secretText(client, providerSecretName(stageName))

/** Whether the provider's secret is there and has the form the functions read. Says which field is wrong, never what is in it. */
export const providerSecretFinding = (stageName: string, text: string | undefined): Finding => {
  const name = providerSecretName(stageName)
  const todo = `put {"secret_key": "...", "callback_tokens": ["..."]} into ${name}: docs/operations.md, "The provider"`
  if (text === undefined) return wrong('provider secret', `${name} is missing`, todo)
  const problems = providerSecretProblems(text)
  return problems.length === 0
    ? ok('provider secret', `${name} is well-formed`)
    : wrong('provider secret', `${name}: ${problems.join('; ')}`, todo)
}
