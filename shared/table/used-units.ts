import { AsyncLocalStorage } from 'node:async_hooks'

const requests = new AsyncLocalStorage<{ units: number }>()

export function usedUnits(): number {
  return requests.getStore()?.units ?? 0
}

/** Counts the request units that the table reports for one request. */
export function withCountedUnits<Result>(run: () => Promise<Result>): Promise<Result> {
  return requests.run({ units: 0 }, run)
}

/** False in background work, whose units are not counted. */
export function isCountingUnits(): boolean {
  return requests.getStore() !== undefined
}

export function noteUnits(units: number): void {
  const count = requests.getStore()
  if (count) count.units += units
}
