import { AsyncLocalStorage } from 'node:async_hooks'

const requests = new AsyncLocalStorage<{ units: number }>()

/** Runs one request. `used` answers the request units that the table has reported for it so far. */
export function countingUnits<Result>(
  run: (used: () => number) => Promise<Result>,
): Promise<Result> {
  const count = { units: 0 }
  return requests.run(count, () => run(() => count.units))
}

/** Whether the units of this request are counted. Background work does not count them. */
export function countsUnits(): boolean {
  return requests.getStore() !== undefined
}

export function noteUnits(units: number): void {
  const count = requests.getStore()
  if (count) count.units += units
}
