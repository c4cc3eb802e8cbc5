import { useEffect, useState } from 'preact/hooks'

/** One value that several parts of the page share. `use` renders its part again after each change. */
export const store = <T>(initial: T) => {
  let value = initial
  const listeners = new Set<() => void>()
  const follow = (listener: () => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  return {
    get: (): T => value,
    set: (next: T): void => {
      value = next
      for (const listener of listeners) listener()
    },
    /** Calls the listener after each change. Returns a function that removes it. */
    follow,
    use: (): T => {
      const [, render] = useState(0)
      useEffect(() => follow(() => render((times) => times + 1)), [])
      return value
    },
  }
}
