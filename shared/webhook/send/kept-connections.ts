import type { ResolvedAddress } from '../../send-webhook.ts'
import { MINUTE_MS } from '../../time.ts'
import type { BoundedConnection } from './bounded-connection.ts'

/** Servers close idle connections after two seconds at the earliest, usually five: a request never meets that. */
const IDLE_MS = 1_000
const MOST_IDLE = 100
const DISTRUST_MS = 10 * MINUTE_MS
const MOST_DISTRUSTED = 1_000

export type KeptConnections = {
  /** A connection to the same origin, at an address that was just checked, without any byte since its last answer. */
  take(url: URL, addresses: readonly ResolvedAddress[]): Promise<BoundedConnection | undefined>
  keep(url: URL, connection: BoundedConnection): void
  /** The origin broke a connection under a request. For a while it gets a new one each time. */
  distrust(url: URL): void
}

type Clocks = {
  readonly monotonicMs: () => number
  /** A clock that has moved when a frozen process goes on. */
  readonly nowMs: () => number
}

type Kept = {
  readonly connection: BoundedConnection
  readonly address: string
  readonly sinceMs: number
  readonly sinceWallMs: number
  readonly release: () => void
}

/** Waits one round of the event loop: everything that has arrived for a socket has then been read. */
const round = async (): Promise<void> => {
  const turn = () => new Promise<void>((resolve) => setImmediate(resolve))
  await turn()
  await turn()
}

/**
 * Keeps connections between two requests, for a second. Any event on one closes it, because no request is open: an end,
 * an error, a byte. A connection that the merchant's server closed while the process was frozen is detected before it
 * is used.
 */
export const keptConnections = ({ monotonicMs, nowMs }: Clocks): KeptConnections => {
  const idle = new Map<string, Set<Kept>>()
  const distrusted = new Map<string, number>()
  let count = 0

  const remove = (origin: string, kept: Kept): boolean => {
    const ofOrigin = idle.get(origin)
    if (!ofOrigin?.delete(kept)) return false
    if (ofOrigin.size === 0) idle.delete(origin)
    count--
    return true
  }

  const isFresh = ({ sinceMs, sinceWallMs }: Kept): boolean =>
    monotonicMs() - sinceMs <= IDLE_MS && Math.abs(nowMs() - sinceWallMs) <= IDLE_MS

  /** The newest connection that leads to an allowed address. */
  const newest = (origin: string, addresses: readonly ResolvedAddress[]): Kept | undefined =>
    [...(idle.get(origin) ?? [])].findLast((kept) => addresses.some(({ address }) => address === kept.address))

  return {
    take: async ({ origin }, addresses) => {
      for (let kept = newest(origin, addresses); kept; kept = newest(origin, addresses)) {
        remove(origin, kept)
        const fresh = isFresh(kept)
        if (fresh) await round()
        kept.release()
        if (fresh && isOpen(kept.connection)) return kept.connection
        kept.connection.close()
      }
      return undefined
    },
    keep: ({ origin }, connection) => {
      const address = connection.address()
      const trusted = (distrusted.get(origin) ?? 0) <= monotonicMs()
      if (address === undefined || !trusted || count >= MOST_IDLE || !isOpen(connection)) return connection.close()
      const { stream } = connection
      const end = () => {
        remove(origin, kept)
        connection.close()
      }
      const timer = setTimeout(end, IDLE_MS).unref()
      const signs = ['data', 'end', 'close', 'error'] as const
      for (const sign of signs) stream.on(sign, end)
      const release = () => {
        clearTimeout(timer)
        for (const sign of signs) stream.off(sign, end)
      }
      const kept: Kept = { connection, address, sinceMs: monotonicMs(), sinceWallMs: nowMs(), release }
      idle.set(origin, (idle.get(origin) ?? new Set()).add(kept))
      count++
    },
    distrust: ({ origin }) => {
      if (distrusted.size >= MOST_DISTRUSTED) distrusted.clear()
      distrusted.set(origin, monotonicMs() + DISTRUST_MS)
    },
  }
}

const isOpen = ({ stream }: BoundedConnection): boolean => !stream.destroyed && stream.readable && stream.writable
