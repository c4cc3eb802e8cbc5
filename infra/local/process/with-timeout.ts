/**
 * The result of the work or, after `ms` milliseconds, the result of `onTimeout`. Unfinished work
 * then continues.
 */
export async function withTimeout<T>(ms: number, work: Promise<T>, onTimeout: () => T) {
  const timeout = Promise.withResolvers<void>()
  const timer = setTimeout(timeout.resolve, ms)
  try {
    return await Promise.race([work, timeout.promise.then(onTimeout)])
  } finally {
    clearTimeout(timer)
  }
}
