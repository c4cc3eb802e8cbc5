import type { Log, LogCode, LogFields } from '../../../shared/log.ts'
import { describeCause } from '../../../shared/runtime/json-log.ts'
import type { LocalClock } from '../process/local-clock.ts'
import { printableLines } from '../terminal/printable.ts'
import { AccessDenied } from './granted-deps.ts'

export type LocalLog = Log & {
  /** Oldest first. */
  lines(): readonly string[]
  /** Returns a function that removes the listener. */
  onLine(listener: (line: string) => void): () => void
}

const KEPT_LINES = 2_000

/**
 * JSON lines with the local clock's time. Keeps the latest in memory, and passes each to `write`.
 */
export function localLog(
  clock: Pick<LocalClock, 'nowMs'>,
  write?: (line: string) => void,
): LocalLog {
  const lines: string[] = []
  const listeners = new Set<(line: string) => void>()

  const add = (level: string, code: LogCode, fields: LogFields) => {
    const timestamp = new Date(clock.nowMs()).toISOString()
    // A merchant's text must not bring control characters to a terminal.
    const line = printableLines(JSON.stringify({ timestamp, level, message: code, ...fields }))
    lines.push(line)
    if (lines.length > KEPT_LINES) lines.shift()
    write?.(line)
    for (const listener of listeners) listener(line)
  }

  return {
    lines: () => lines,
    onLine: (listener) => {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    info: (code, fields = {}) => add('info', code, fields),
    warn: (code, fields = {}) => add('warn', code, fields),
    error: (code, fields = {}, cause) =>
      add('error', code, {
        ...fields,
        ...(cause !== undefined && describeCause(cause)),
        // The message has only a function and an access, and no one finds a missing grant without
        // it.
        ...(cause instanceof AccessDenied && { error_message: cause.message }),
      }),
  }
}
