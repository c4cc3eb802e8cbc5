import { GetSecretValueCommand, type SecretsManagerClient } from '@aws-sdk/client-secrets-manager'
import { unlessAbsent } from './look.ts'

/** The second is Secrets Manager's word for a secret that is scheduled for deletion: nobody can read it. */
const ABSENT = ['ResourceNotFoundException', 'InvalidRequestException']

/** A secret's stored text, or undefined when there is none. For checks alone: it is never printed. */
export const secretText = async (client: SecretsManagerClient, SecretId: string): Promise<string | undefined> =>
  (await unlessAbsent(ABSENT, client.send(new GetSecretValueCommand({ SecretId }))))?.SecretString
