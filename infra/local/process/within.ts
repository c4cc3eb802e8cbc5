/** Waits until all are done, but no longer than this. What is not done by then continues. */
export const within = async (ms: number, all: readonly Promise<void>[]): Promise<void> => {
  let timer: NodeJS.Timeout | undefined
  const enough = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([Promise.all(all), enough])
  clearTimeout(timer)
}
