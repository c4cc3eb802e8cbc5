import { onTestFinished } from 'vitest'
import type { ActivityLine } from '../../infra/local/console/activity/activity-line.ts'
import { answerConsole } from '../../infra/local/console/answer-console.ts'
import type { About } from '../../infra/local/console/console-call.ts'
import {
  jsonReply,
  type LocalRequest,
  startLocalHttpServer,
} from '../../infra/local/process/local-http-server.ts'

export type Script = {
  readonly port?: number
  readonly clientId?: string
  /** The body that all four ports answer; undefined for a 404. */
  readonly answer: (request: LocalRequest) => object | undefined | Promise<object | undefined>
}

export async function startScriptedConsole({ port = 0, clientId = 'client-1', answer }: Script) {
  const listeners = new Set<(line: ActivityLine) => void>()
  const ports = await startLocalHttpServer({
    port: 0,
    answer: async (request) => {
      const body = await answer(request)
      return body
        ? jsonReply(200, body)
        : jsonReply(404, { code: 'not_found', message: 'not found' })
    },
  })
  const { url } = ports
  const about: About = {
    urls: { api: url, lambda: url, provider: url, inbox: url },
    client: {
      client_id: clientId,
      api_key: `key-of-${clientId}`,
      endpoint_id: 'endpoint-1',
      endpoint_url: url,
    },
  }
  const follow = (listener: (line: ActivityLine) => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  const pages = answerConsole(
    Promise.resolve({ about, activity: { follow, close: () => undefined } }),
  )
  const server = await startLocalHttpServer({
    port,
    answer: async (request) => (await pages(request)) ?? jsonReply(404, {}),
  })
  const close = async () => {
    await server.close()
    await ports.close()
  }
  onTestFinished(close)
  return {
    url: server.url,
    send: (line: ActivityLine) => {
      for (const listener of listeners) listener(line)
    },
    close,
  }
}
