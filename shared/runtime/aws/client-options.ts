/** Without `throwOnRequestTimeout` the SDK only warns of a hung connection. */
export const AWS_HTTP_OPTIONS = {
  connectionTimeout: 1_000,
  requestTimeout: 3_000,
  throwOnRequestTimeout: true,
} as const

export type CallLimits = { readonly tries: number; readonly timeoutMs: number }

export function limitOptions(calls: CallLimits | undefined) {
  return (
    calls && {
      maxAttempts: calls.tries,
      requestHandler: { ...AWS_HTTP_OPTIONS, requestTimeout: calls.timeoutMs },
    }
  )
}

/** The client's own log is unused, and copies every request. */
export function withoutLog<Client extends { middlewareStack: { remove(name: string): boolean } }>(
  client: Client,
) {
  client.middlewareStack.remove('loggerMiddleware')
  return client
}
