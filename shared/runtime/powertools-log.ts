import { Logger } from '@aws-lambda-powertools/logger'
import type { Log } from '../log.ts'
import { embeddedMetrics } from './embedded-metrics.ts'
import { joiningLog } from './joining-log.ts'

/** Only class and stack, because the message of a foreign error may quote a body, a key or a header. */
export const describeCause = (cause: unknown) =>
  cause instanceof Error
    ? {
        error_name: cause.name,
        // The message is removed first, because one of its lines may look like a stack frame.
        error_stack: cause.stack
          ?.replace(cause.message, '')
          .split('\n')
          .filter((line) => /^\s+at /.test(line))
          .join('\n'),
      }
    : { error_name: typeof cause }

/**
 * JSON log lines by Powertools, with their metrics. The closed codes and id-only fields of `Log` keep personal data
 * out. The logger writes `service` on each line, which is also a dimension of the metrics.
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
