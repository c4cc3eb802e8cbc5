import { AsyncLocalStorage } from 'node:async_hooks'
import type { Log, LogCode, LogFields } from '../log.ts'
import { type EmbeddedMetrics, embeddedMetrics } from './embedded-metrics.ts'

type Line = EmbeddedMetrics

/** Writes one log line with its fields and metrics. */
export type WriteLine = (level: keyof Log, code: LogCode, line: Line, cause?: unknown) => void

type Request = {
  /** The lines that wait for the last line of the request; undefined after it. */
  waiting: readonly { readonly code: LogCode; readonly line: Line }[] | undefined
  /** Client and key of the request. */
  caller: LogFields
}

const requests = new AsyncLocalStorage<Request>()

/** Runs one request and writes its info lines as one line. */
export const inOneLine = <Result>(run: () => Promise<Result>): Promise<Result> =>
  requests.run({ waiting: [], caller: {} }, run)

/** Records client and key for the last line of the request. */
export const noteCaller = (caller: LogFields): void => {
  const request = requests.getStore()
  if (request) request.caller = caller
}

/** The recorded client and key; empty before authentication. */
export const notedCaller = (): LogFields => requests.getStore()?.caller ?? {}

const isLast = (code: LogCode): boolean => code === 'request.completed' || code === 'request.failed'

/**
 * A log that joins the info lines of a request into its last line; `outcomes` names their codes. A line with another
 * value for the same field stays separate. Warnings and errors are written immediately. A crash loses the waiting
 * lines.
 */
export const joiningLog = (write: WriteLine): Log => {
  const end = (request: Request, last: Line): Line => {
    const { waiting = [] } = request
    request.waiting = undefined
    let joined = last
    const outcomes: LogCode[] = []
    for (const { code, line } of waiting) {
      if (outcomes.includes(code) || contradicts(joined, line)) write('info', code, line)
      else {
        joined = join(joined, line)
        outcomes.push(code)
      }
    }
    return outcomes.length === 0 ? joined : { ...joined, outcomes: outcomes.join(' ') }
  }

  const say = (level: keyof Log, code: LogCode, fields: LogFields, cause?: unknown) => {
    const line = { ...fields, ...embeddedMetrics(code, fields) }
    const request = requests.getStore()
    if (request?.waiting === undefined) write(level, code, line, cause)
    else if (isLast(code)) write(level, code, end(request, line), cause)
    else if (level === 'info') request.waiting = [...request.waiting, { code, line }]
    else write(level, code, line, cause)
  }

  return {
    info: (code, fields = {}) => say('info', code, fields),
    warn: (code, fields = {}) => say('warn', code, fields),
    error: (code, fields = {}, cause) => say('error', code, fields, cause),
  }
}

const contradicts = (joined: Line, line: Line): boolean =>
  Object.entries(line).some(([name, value]) => name !== '_aws' && name in joined && joined[name] !== value)

const join = (one: Line, other: Line): Line => {
  const [first, ...others] = [one._aws, other._aws].flatMap((measured) => measured ?? [])
  if (first === undefined) return { ...one, ...other }
  const directives = [first, ...others].flatMap(({ CloudWatchMetrics }) => CloudWatchMetrics)
  return { ...one, ...other, _aws: { ...first, CloudWatchMetrics: directives } }
}
