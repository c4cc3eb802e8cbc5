/** Replaces the SDK's credential chain (infra/stack/functions/assets-of.ts). */
export function defaultProvider() {
  return async () => {
    const {
      AWS_ACCESS_KEY_ID: accessKeyId,
      AWS_SECRET_ACCESS_KEY: secretAccessKey,
      AWS_SESSION_TOKEN: sessionToken,
    } = process.env
    if (!accessKeyId || !secretAccessKey) throw new Error('the environment has no AWS credentials')
    return { accessKeyId, secretAccessKey, ...(sessionToken && { sessionToken }) }
  }
}
