/** A step did not run, because what it needs was not made. */
export class NotRun extends Error {
  override readonly name = 'NotRun'
}

const standIns = new WeakMap<object, string>()

/**
 * In place of what a failed step would have made: a read or a call of it throws `NotRun`. So the steps
 * that depend on a failed one are not run, and all others are.
 */
export const standIn = (what: string): never => {
  const refuse = () => {
    throw new NotRun(`it needs: ${what}`)
  }
  // A promise asks whether its value is a promise.
  const get = (_: object, key: string | symbol) => (key === 'then' ? undefined : refuse())
  const made = new Proxy(() => undefined, { get, apply: refuse })
  standIns.set(made, what)
  return made as never
}

/** Throws `NotRun` where one of these was not made. */
export const assertMade = (needs: readonly unknown[]): void => {
  for (const one of needs) {
    const what = typeof one === 'function' ? standIns.get(one) : undefined
    if (what !== undefined) throw new NotRun(`it needs: ${what}`)
  }
}
