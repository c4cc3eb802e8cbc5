import { Logger } from '@aws-lambda-powertools/logger'
import type { Log } from '../log.ts'
import { embeddedMetrics } from './embedded-metrics.ts'
import { joiningLog } from './joining-log.ts'

/** Only class and stack: the message of a foreign error may quote a body, a key or a header. */
export const describeCause = (cause: unknown) =>
  cause instanceof Error
    ? {
        error_name: cause.name,
        // Without the message first: one of several lines may look like a frame.
        error_stack: cause.stack
          ?.replace(cause.message, '')
          .split('\n')
          .filter((line) => /^\s+at /.test(line))
          .join('\n'),
      }
    : { error_name: typeof cause }

/**
 * JSON lines by Powertools, with the metrics of those lines that have some. The closed codes and id-only fields of `Log`
 * are what keeps personal data out. The logger writes the service on each line, which is where metrics have theirs from.
 */
export const powertoolsLog = (
  stage: string,
  newLogger: (serviceName: string) => Logger = (serviceName) => new Logger({ serviceName }),
): Log => {
  const serviceName = `gateway-${stage}`
  const logger = newLogger(serviceName)
  return joiningLog(embeddedMetrics(serviceName), (level, code, line, cause) =>
    logger[level](code, { ...line, ...(cause !== undefined && describeCause(cause)) }),
  )
}
