import { type Banner, startGatewayProcess } from '../support/start-gateway-process.ts'

/** On a machine that does much else. */
const START_WITHIN_MS = 120_000

/** The local gateway on a data directory, which can be killed at any moment and starts again on what it has kept. */
export const startKilledGateway = (data: string, tree?: string) => {
  const start = () => {
    const process = startGatewayProcess({ args: ['--data', data], tree })
    return { process, ready: process.ready(START_WITHIN_MS).then(noteUp) }
  }
  let ranMs = 0
  let upSince: number | undefined
  const noteUp = (banner: Banner) => {
    upSince = performance.now()
    return banner
  }
  const upMs = () => ranMs + (upSince === undefined ? 0 : performance.now() - upSince)
  let running = start()
  let kills = 0
  // Nobody waits for a start that a failure elsewhere made pointless.
  const quietly = () => void running.ready.catch(() => undefined)
  quietly()
  return {
    /** Where it is, as soon as it runs. Rejects with what it printed when it does not start. */
    up: (): Promise<Banner> => running.ready,
    kills: () => kills,
    /** How long it has been ready, all its lives together. */
    upMs,
    /** SIGKILL, in the midst of whatever it does; resolves when it runs again. */
    kill: async (): Promise<void> => {
      const killed = running.process
      // Callers from now on wait for the next one.
      const { promise, resolve, reject } = Promise.withResolvers<Banner>()
      running = { process: killed, ready: promise }
      quietly()
      kills++
      ranMs = upMs()
      upSince = undefined
      await killed.end('SIGKILL')
      const next = start()
      running = { process: next.process, ready: promise }
      await next.ready.then(resolve, reject)
      await promise
    },
    end: async (): Promise<void> => {
      await running.process.end('SIGKILL')
    },
  }
}

export type KilledGateway = ReturnType<typeof startKilledGateway>
