import { Logger } from '@aws-lambda-powertools/logger'
import type { Log, LogCode, LogFields } from '../log.ts'

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

/** JSON lines by Powertools. The closed codes and id-only fields of `Log` are what keeps personal data out. */
export const powertoolsLog = (stage: string, logger = new Logger({ serviceName: `gateway-${stage}` })): Log => ({
  info: (code: LogCode, fields: LogFields = {}) => logger.info(code, { ...fields }),
  warn: (code: LogCode, fields: LogFields = {}) => logger.warn(code, { ...fields }),
  error: (code: LogCode, fields: LogFields = {}, cause?: unknown) =>
    logger.error(code, { ...fields, ...(cause !== undefined && describeCause(cause)) }),
})
