/** The result of the work or, after `ms` milliseconds, that of `late`. Unfinished work continues after that. */
export async function within<T>(ms: number, work: Promise<T>, late: () => T): Promise<T> {
  const timeout = Promise.withResolvers<void>()
  const timer = setTimeout(timeout.resolve, ms)
  try {
    return await Promise.race([work, timeout.promise.then(late)])
  } finally {
    clearTimeout(timer)
  }
}
