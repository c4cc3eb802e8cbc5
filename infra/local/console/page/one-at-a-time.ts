/**
 * At most one read in progress and one queued. Any number of calls of `again` during a read queue only one more. Each
 * answer is shown, even while data changes all the time. After `end` no answer is shown.
 */
export const oneAtATime = <T>(read: () => Promise<T>, show: (answer: T) => void) => {
  const state = { isReading: false, isQueued: false, hasEnded: false }

  const run = async () => {
    state.isReading = true
    while (state.isQueued && !state.hasEnded) {
      state.isQueued = false
      const answer = await read()
      if (!state.hasEnded) show(answer)
    }
    state.isReading = false
  }

  return {
    again: (): void => {
      state.isQueued = true
      if (!state.isReading) void run()
    },
    end: (): void => {
      state.hasEnded = true
    },
  }
}
