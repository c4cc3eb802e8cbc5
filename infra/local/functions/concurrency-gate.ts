/** Lets a number of holders in at a time; the others wait in the order they came. */
export type ConcurrencyGate = {
  /** Resolves with the way out once there is room. Calling it twice does no harm. */
  enter(): Promise<() => void>
}

export const concurrencyGate = (limit: number): ConcurrencyGate => {
  const waiting: (() => void)[] = []
  let inside = 0

  const leave = () => {
    const next = waiting.shift()
    // The place is handed over, so nobody can come in between.
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
