import { setTimeout as sleep } from 'node:timers/promises'

/** Waits in real time; the signal ends the wait early, without an error. */
export async function pause(ms: number, signal: AbortSignal) {
  await sleep(ms, undefined, { signal }).catch(() => undefined)
}
