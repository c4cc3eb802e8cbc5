type Logging = { readonly middlewareStack: { remove(name: string): boolean } }

/** The client without its log, which nobody reads and which copies for each request what is sent and what comes. */
export const withoutLog = <Client extends Logging>(client: Client): Client => {
  client.middlewareStack.remove('loggerMiddleware')
  return client
}
