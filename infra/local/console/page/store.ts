import { useEffect, useState } from 'preact/hooks'

/** One value that several parts of the page show: `use` renders its part again when it changes. */
export const store = <T>(initial: T) => {
  let value = initial
  const listeners = new Set<() => void>()
  return {
    get: (): T => value,
    set: (next: T): void => {
      value = next
      for (const listener of listeners) listener()
    },
    use: (): T => {
      const [, render] = useState(0)
      useEffect(() => {
        const listener = () => render((times) => times + 1)
        listeners.add(listener)
        return () => void listeners.delete(listener)
      }, [])
      return value
    },
  }
}
