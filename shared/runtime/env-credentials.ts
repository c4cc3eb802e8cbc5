type Credentials = {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/**
 * Stands in for the SDK's default chain of credential sources when a handler is bundled (infra/stack/functions/assets-of.ts), under the
 * name by which the SDK's clients import it. Lambda hands the role's credentials over in the environment.
 */
export const defaultProvider = () => async (): Promise<Credentials> => {
  const {
    AWS_ACCESS_KEY_ID: accessKeyId,
    AWS_SECRET_ACCESS_KEY: secretAccessKey,
    AWS_SESSION_TOKEN: sessionToken,
  } = process.env
  if (!accessKeyId || !secretAccessKey) throw new Error('the environment carries no AWS credentials')
  return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
}
