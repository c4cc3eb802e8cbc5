type Logging = { readonly middlewareStack: { remove(name: string): boolean } }

/** Removes the client's unused log, which copies the input and output of every request. */
export const withoutLog = <Client extends Logging>(client: Client): Client => {
  client.middlewareStack.remove('loggerMiddleware')
  return client
}
