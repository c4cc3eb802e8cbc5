import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { providerSecretProblems } from '../../shared/provider/provider-secret.ts'
import { providerSecretName } from '../../shared/secrets.ts'
import { type Finding, ok, wrong } from './finding.ts'
import { unlessAbsent } from './look.ts'

/** The stored text, or undefined when there is none. For checks alone: it is never printed. */
export const providerSecretText = async (
  client: SecretsManagerClient,
  stageName: string,
): Promise<string | undefined> => {
  const ask = client.send(new GetSecretValueCommand({ SecretId: providerSecretName(stageName) }))
  return (await unlessAbsent(['ResourceNotFoundException'], ask))?.SecretString
}

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
