import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { type Finding, ok, wrong } from '../check/finding.ts'
import { runCheck, unlessAbsent } from '../check/run-check.ts'

export type FilledSecret = {
  readonly what: string
  readonly name: string
  /** What is wrong with its text, by field. */
  readonly problemsIn: (text: string) => readonly string[]
  readonly todo: string
}

/** The second is Secrets Manager's word for a secret that is scheduled for deletion and cannot be read. */
const ABSENT = ['ResourceNotFoundException', 'InvalidRequestException']

/**
 * Whether a secret that a person fills in is there and has the form that functions read. Says which field is wrong, never
 * what is in it; `text` is for further checks alone, and only of one that is well-formed.
 */
export const checkSecret = async (
  client: SecretsManagerClient,
  { what, name, problemsIn, todo }: FilledSecret,
): Promise<{ readonly findings: readonly Finding[]; readonly text: string | undefined }> => {
  let text: string | undefined
  const findings = await runCheck(what, async () => {
    const ask = client.send(new GetSecretValueCommand({ SecretId: name }))
    const stored = (await unlessAbsent(ABSENT, ask))?.SecretString
    const problems = stored === undefined ? ['is missing'] : problemsIn(stored)
    if (problems.length > 0) return wrong(what, `${name}: ${problems.join('; ')}`, todo)
    text = stored
    return ok(what, `${name} is well-formed`)
  })
  return { findings, text }
}
