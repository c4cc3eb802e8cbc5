/** Waits for all promises, at most `ms` milliseconds. Unfinished work continues after that. */
export const within = async (ms: number, all: readonly Promise<void>[]): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([Promise.all(all), enough])
  clearTimeout(timer)
}
