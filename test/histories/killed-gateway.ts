import { type Banner, startGatewayProcess } from '../support/start-gateway-process.ts'

export function startKilledGateway(data: string) {
  let process: ReturnType<typeof startGatewayProcess>
  let ready: Promise<Banner>
  let kills = 0
  let ranMs = 0
  let upSince: number | undefined
  const upMs = () => ranMs + (upSince === undefined ? 0 : performance.now() - upSince)
  const start = async () => {
    process = startGatewayProcess({ args: ['--data', data] })
    const banner = await process.ready()
    upSince = performance.now()
    return banner
  }
  /**
   * Callers wait for this start from now on. If no caller waits, its rejection must not become an
   * unhandled error.
   */
  const waitFor = (starting: Promise<Banner>) => {
    ready = starting
    starting.catch(() => undefined)
  }
  waitFor(start())
  return {
    up: () => ready,
    kills: () => kills,
    /** How long the gateway has been ready, over all its starts. */
    upMs,
    kill: async () => {
      kills++
      ranMs = upMs()
      upSince = undefined
      waitFor(process.end('SIGKILL').then(start))
      await ready
    },
    end: async () => {
      await process.end('SIGKILL')
    },
  }
}

export type KilledGateway = ReturnType<typeof startKilledGateway>
