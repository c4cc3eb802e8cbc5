import type { Log } from '../log.ts'
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
 * One JSON line for each entry, with its metrics. The closed codes and id-only fields of `Log` keep personal data out.
 * `console` is not used, because Lambda would put the line inside an object of its own, where CloudWatch finds no metric.
 */
export const jsonLog = (
  stage: string,
  write: (line: string) => void = (line) => void process.stdout.write(`${line}\n`),
): Log =>
  joiningLog((level, message, line, cause) =>
    write(
      JSON.stringify({
        level: level.toUpperCase(),
        message,
        timestamp: new Date().toISOString(),
        // Also a dimension of every metric.
        service: `gateway-${stage}`,
        ...line,
        ...(cause !== undefined && describeCause(cause)),
      }),
    ),
  )
