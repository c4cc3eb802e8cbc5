import { AsyncLocalStorage } from 'node:async_hooks'

const requests = new AsyncLocalStorage<{ units: number }>()

/** Runs one request. `used` answers the request units that the table has reported for it so far. */
export function withCountedUnits<Result>(
  run: (used: () => number) => Promise<Result>,
): Promise<Result> {
  const count = { units: 0 }
  return requests.run(count, () => run(() => count.units))
}

/** False in background work, whose units are not counted. */
export function isCountingUnits(): boolean {
  return requests.getStore() !== undefined
}

export function noteUnits(units: number): void {
  const count = requests.getStore()
  if (count) count.units += units
}
