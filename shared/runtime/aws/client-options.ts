export const AWS_HTTP_OPTIONS = httpOptions(3_000)

export type CallLimits = { readonly tries: number; readonly timeoutMs: number }

export function limitOptions(calls: CallLimits | undefined) {
  return calls && { maxAttempts: calls.tries, requestHandler: httpOptions(calls.timeoutMs) }
}

/**
 * Without `throwOnRequestTimeout` the SDK only warns of a hung connection. `requestTimeout` ends
 * with an answer's head: a body that stops is left to `socketTimeout`.
 */
function httpOptions(timeoutMs: number) {
  return {
    connectionTimeout: 1_000,
    requestTimeout: timeoutMs,
    socketTimeout: timeoutMs,
    throwOnRequestTimeout: true,
  }
}

/** The client's own log is unused, and copies every request. */
export function withoutLog<Client extends { middlewareStack: { remove(name: string): boolean } }>(
  client: Client,
) {
  client.middlewareStack.remove('loggerMiddleware')
  return client
}
