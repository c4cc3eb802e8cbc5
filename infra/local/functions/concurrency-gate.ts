/** Limits concurrent holders. Others wait in order of arrival. */
export type ConcurrencyGate = {
  /** Resolves when there is room, with the function that leaves. A second call of that function has no effect. */
  enter(): Promise<() => void>
}

export const concurrencyGate = (limit: number): ConcurrencyGate => {
  const waiting: (() => void)[] = []
  let inside = 0

  const leave = () => {
    const next = waiting.shift()
    // The next holder takes over the place directly, so a new caller cannot overtake it.
    if (next) next()
    else inside--
  }

  return {
    enter: async () => {
      if (inside < limit) inside++
      else await new Promise<void>((resolve) => waiting.push(resolve))
      let left = false
      return () => {
        if (!left) leave()
        left = true
      }
    },
  }
}
