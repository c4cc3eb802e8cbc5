import type { SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { callbackSecretProblems } from '../../../shared/provider/callback-secret.ts'
import { providerSecretProblems } from '../../../shared/provider/provider-secret.ts'
import { callbackSecretName, providerSecretName } from '../../../shared/secrets.ts'
import { type Finding, ok, wrong } from './finding.ts'
import { secretText } from './secret-text.ts'

/** The stored text with the provider's key, or undefined when there is none. */
export const providerSecretText = (client: SecretsManagerClient, stageName: string): Promise<string | undefined> =>
  secretText(client, providerSecretName(stageName))

/** The stored text with the callback tokens, or undefined when there is none. */
export const callbackSecretText = (client: SecretsManagerClient, stageName: string): Promise<string | undefined> =>
  secretText(client, callbackSecretName(stageName))

/** Whether the provider's key is there and has the form the functions read. Says which field is wrong, never what is in it. */
export const providerSecretFinding = (stageName: string, text: string | undefined): Finding =>
  formFinding({
    what: 'provider secret',
    name: providerSecretName(stageName),
    form: '{"secret_key": "..."}',
    problems: text === undefined ? undefined : providerSecretProblems(text),
  })

/** The same of the callback tokens. */
export const callbackSecretFinding = (stageName: string, text: string | undefined): Finding =>
  formFinding({
    what: 'callback secret',
    name: callbackSecretName(stageName),
    form: '{"callback_tokens": ["..."]}',
    problems: text === undefined ? undefined : callbackSecretProblems(text),
  })

type Form = {
  readonly what: string
  readonly name: string
  readonly form: string
  /** Undefined when there is no such secret. */
  readonly problems: readonly string[] | undefined
}

const formFinding = ({ what, name, form, problems }: Form): Finding => {
  const todo = `put ${form} into ${name}: docs/operations.md, "The provider"`
  if (problems === undefined) return wrong(what, `${name} is missing`, todo)
  return problems.length === 0
    ? ok(what, `${name} is well-formed`)
    : wrong(what, `${name}: ${problems.join('; ')}`, todo)
}
