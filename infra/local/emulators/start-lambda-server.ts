import type { FunctionHost } from '../functions/function-host.ts'
import type { LocalLog } from '../functions/local-log.ts'
import type { LocalClock } from '../process/local-clock.ts'
import { jsonReply, type LocalHttpServer, startLocalHttpServer } from '../process/local-http-server.ts'
import type { AlertInbox } from './alert-inbox.ts'
import { answerControl } from './answer-control.ts'
import { answerInvocation, MAX_INVOKE_BYTES } from './answer-invocation.ts'

export type LambdaServerOptions = {
  readonly port: number
  readonly family?: Set<number>
  readonly clock: LocalClock
  readonly log: LocalLog
  readonly ready: Promise<{
    readonly host: Pick<FunctionHost, 'byName'>
    readonly alerts: AlertInbox['alerts']
    /** Resolves when the webhook attempts that run now have ended. */
    readonly attemptsEnded: () => Promise<void>
  }>
}

/**
 * PORT+1: the Lambda Invoke API for every function, and the local controls. It listens at once; requests wait until the
 * gateway is ready.
 */
export const startLambdaServer = ({ port, family, clock, log, ready }: LambdaServerOptions): Promise<LocalHttpServer> =>
  startLocalHttpServer({
    port,
    family,
    maxBodyBytes: MAX_INVOKE_BYTES,
    answer: async (request) => {
      const { host, alerts, attemptsEnded } = await ready
      return (
        (await answerControl({ clock, alerts, attemptsEnded, log }, request)) ??
        (await answerInvocation(host, request)) ??
        jsonReply(404, { message: `no ${request.method} ${request.path} here` })
      )
    },
  })
