import { AsyncLocalStorage } from 'node:async_hooks'

type Count = { units: number; reserve?: (units: number) => Promise<void> }

const requests = new AsyncLocalStorage<Count>()

export function usedUnits() {
  return requests.getStore()?.units ?? 0
}

export function withCountedUnits<Result>(run: () => Promise<Result>) {
  return requests.run({ units: 0 }, run)
}

/** False in background work, whose units are not counted. */
export function isCountingUnits() {
  return requests.getStore() !== undefined
}

export function noteUnits(units: number) {
  const count = requests.getStore()
  if (count) count.units += units
}

/** Lets the client pay for units before its request uses them. */
export function reserveWith(reserve: NonNullable<Count['reserve']>) {
  const count = requests.getStore()
  if (count) count.reserve = reserve
}

/**
 * Called before reads or writes whose cost a first small read has shown. Throws 429 `rate_limit` if
 * the client's limit is used up. Background work reserves nothing.
 */
export async function reserveUnits(units: number) {
  await requests.getStore()?.reserve?.(units)
}
