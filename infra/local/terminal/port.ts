import { UsageError, wholeNumber } from './command-line.ts'

export const DEFAULT_PORT = 3000
/** PORT and the three ports behind it. */
const HIGHEST_PORT = 65_532

/** Where the local gateway is, or is to be: its API's port. Throws `UsageError`. */
export const portFrom = (text: string | undefined): number => {
  const port = wholeNumber(text || String(DEFAULT_PORT)) ?? -1
  if (port < 0 || port > HIGHEST_PORT) {
    throw new UsageError(`PORT must be a number from 0 to ${HIGHEST_PORT} (0 takes free ports)`)
  }
  return port
}

/** The address of the running gateway's door so many ports behind its API. */
export const doorAt = (text: string | undefined, offset = 0): string => `http://127.0.0.1:${portFrom(text) + offset}`
