import { AsyncLocalStorage } from 'node:async_hooks'
import type { Log, LogCode, LogFields } from '../log.ts'
import { isMetric, LOG_METRICS, METRIC_NAMESPACE, METRICS } from '../metrics.ts'

/** CloudWatch finds no metric in a `console` line, because Lambda wraps it. */
export function jsonLog(
  stage: string,
  write: (line: string) => void = (line) => void process.stdout.write(`${line}\n`),
): Log {
  return joiningLog((level, message, line, cause) =>
    write(
      JSON.stringify({
        level: level.toUpperCase(),
        message,
        timestamp: new Date().toISOString(),
        service: `gateway-${stage}`,
        ...line,
        ...(cause !== undefined && describeCause(cause)),
      }),
    ),
  )
}

type WriteLine = (level: keyof Log, code: LogCode, line: EmbeddedMetrics, cause?: unknown) => void

type Request = {
  /** The lines that wait for the last line of the request; undefined after the last line. */
  waiting: readonly { readonly code: LogCode; readonly line: EmbeddedMetrics }[] | undefined
  caller: LogFields
}

const requests = new AsyncLocalStorage<Request>()

/** CloudWatch's format (EMF). */
type Directive = {
  readonly Namespace: string
  readonly Dimensions: readonly (readonly string[])[]
  readonly Metrics: readonly { readonly Name: string; readonly Unit: string }[]
}

type EmbeddedMetrics = Readonly<Record<string, unknown>> & {
  readonly _aws?: { readonly Timestamp: number; readonly CloudWatchMetrics: readonly Directive[] }
}

/**
 * Joins the info lines of a request into its last line. `outcomes` names their codes. Warnings,
 * errors, and lines that contradict the last line stay separate. A crash loses the waiting lines.
 */
export function joiningLog(write: WriteLine): Log {
  const end = (request: Request, last: EmbeddedMetrics): EmbeddedMetrics => {
    const { waiting = [] } = request
    request.waiting = undefined
    let joined = last
    const outcomes: LogCode[] = []
    for (const { code, line } of waiting) {
      const agrees = ([name, value]: [string, unknown]) =>
        name === '_aws' || !(name in joined) || joined[name] === value
      if (outcomes.includes(code) || !Object.entries(line).every(agrees)) write('info', code, line)
      else {
        joined = joinLines(joined, line)
        outcomes.push(code)
      }
    }
    return outcomes.length === 0 ? joined : { ...joined, outcomes: outcomes.join(' ') }
  }

  const log = (level: keyof Log, code: LogCode, fields: LogFields, cause?: unknown) => {
    const line = { ...fields, ...embeddedMetrics(code, fields) }
    const request = requests.getStore()
    if (request?.waiting === undefined) write(level, code, line, cause)
    else if (code === 'request.completed' || code === 'request.failed')
      write(level, code, end(request, line), cause)
    else if (level === 'info') request.waiting = [...request.waiting, { code, line }]
    else write(level, code, line, cause)
  }

  return {
    info: (code, fields = {}) => log('info', code, fields),
    warn: (code, fields = {}) => log('warn', code, fields),
    error: (code, fields = {}, cause) => log('error', code, fields, cause),
  }
}

function joinLines(line: EmbeddedMetrics, next: EmbeddedMetrics) {
  const metadata = line._aws ?? next._aws
  const CloudWatchMetrics = [line, next].flatMap(({ _aws }) => _aws?.CloudWatchMetrics ?? [])
  return { ...line, ...next, ...(metadata && { _aws: { ...metadata, CloudWatchMetrics } }) }
}

/** The dimension `service` is the stage. */
export function embeddedMetrics(code: LogCode, fields: LogFields): EmbeddedMetrics {
  const metrics = Object.entries(LOG_METRICS[code] ?? {}).flatMap(([metric, source]) => {
    const value = typeof source === 'number' ? source : fields[source]
    const isMeasured = isMetric(metric) && typeof value === 'number' && Number.isFinite(value)
    return isMeasured ? [{ metric, value, ...METRICS[metric] }] : []
  })
  if (metrics.length === 0) return {}
  const directives = Map.groupBy(metrics, ({ dimensionSets }) => dimensionSets)
    .entries()
    .map(
      ([sets, alike]): Directive => ({
        Namespace: METRIC_NAMESPACE,
        Dimensions: sets.map((set) => ['service', ...set]),
        Metrics: alike.map(({ metric, unit }) => ({ Name: metric, Unit: unit })),
      }),
    )
  const [, outcome] = code.split('.')
  const members = metrics.flatMap(({ metric, value, dimensionSets }) => [
    // CloudWatch refuses an empty dimension; a QRIS payment has no channel.
    ...dimensionSets
      .flat()
      .map((name) => [name, String((name === 'outcome' ? outcome : fields[name]) ?? 'none')]),
    [metric, value],
  ])
  return {
    ...Object.fromEntries(members),
    _aws: { Timestamp: Date.now(), CloudWatchMetrics: [...directives] },
  }
}

/** A foreign error's message may quote a body, a key or a header. */
export function describeCause(cause: unknown) {
  return cause instanceof Error
    ? {
        error_name: cause.name,
        // A line of the message may look like a stack frame.
        error_stack: cause.stack
          ?.replace(cause.message, '')
          .split('\n')
          .filter((line) => /^\s+at /.test(line))
          .join('\n'),
      }
    : { error_name: typeof cause }
}

export function logInOneLine<Result>(run: () => Promise<Result>) {
  return requests.run({ waiting: [], caller: {} }, run)
}

export function noteCaller(caller: LogFields) {
  const request = requests.getStore()
  if (request) request.caller = caller
}

export function callerFields(): LogFields {
  return requests.getStore()?.caller ?? {}
}
