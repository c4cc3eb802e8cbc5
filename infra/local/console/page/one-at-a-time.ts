/**
 * One read in flight and at most one queued. `again` during a read asks for one more after it, however often it is called:
 * while everything changes, each answer is still shown. After `end` nothing is shown.
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
