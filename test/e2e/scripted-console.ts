import { onTestFinished } from 'vitest'
import { answerConsole } from '../../infra/local/console/answer-console.ts'
import type { About } from '../../infra/local/console/console-call.ts'
import type { StoryLine } from '../../infra/local/console/story/story-line.ts'
import {
  jsonReply,
  type LocalAnswer,
  type LocalRequest,
  startLocalHttpServer,
} from '../../infra/local/process/local-http-server.ts'

export type Script = {
  readonly port?: number
  readonly clientId?: string
  /** What all four doors answer; undefined is 404. */
  readonly answer: (request: LocalRequest) => object | undefined | Promise<object | undefined>
}

/** The console before a gateway that answers what a test says, when the test says it. */
export const startScriptedConsole = async ({ port = 0, clientId = 'client-1', answer }: Script) => {
  const listeners = new Set<(line: StoryLine) => void>()
  const doors = await startLocalHttpServer({
    port: 0,
    answer: async (request): Promise<LocalAnswer> => {
      const body = await answer(request)
      return body ? jsonReply(200, body) : jsonReply(404, { code: 'not_found', message: 'not found' })
    },
  })
  const { url } = doors
  const about: About = {
    urls: { api: url, lambda: url, provider: url, inbox: url },
    client: { client_id: clientId, api_key: `key-of-${clientId}`, endpoint_id: 'endpoint-1', endpoint_url: url },
  }
  const follow = (listener: (line: StoryLine) => void) => {
    listeners.add(listener)
    return () => void listeners.delete(listener)
  }
  const pages = answerConsole(Promise.resolve({ about, story: { follow, close: () => undefined } }))
  const server = await startLocalHttpServer({
    port,
    answer: async (request) => (await pages(request)) ?? jsonReply(404, {}),
  })
  const close = async () => {
    await server.close()
    await doors.close()
  }
  onTestFinished(close)
  return {
    url: server.url,
    tell: (line: StoryLine) => {
      for (const listener of listeners) listener(line)
    },
    close,
  }
}
