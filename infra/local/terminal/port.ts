import { UsageError, wholeNumber } from './command-line.ts'

export const DEFAULT_PORT = 3000
/** The gateway also needs the three ports after PORT. */
const HIGHEST_PORT = 65_532

/** The port of the local gateway's API. Throws `UsageError`. */
export const portFrom = (text: string | undefined): number => {
  const port = wholeNumber(text || String(DEFAULT_PORT)) ?? -1
  if (port < 0 || port > HIGHEST_PORT) {
    throw new UsageError(`PORT must be a number from 0 to ${HIGHEST_PORT} (0 takes free ports)`)
  }
  return port
}

/** The address of the server that listens `offset` ports after the gateway's API. */
export const doorAt = (text: string | undefined, offset = 0): string => `http://127.0.0.1:${portFrom(text) + offset}`
