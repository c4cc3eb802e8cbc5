import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { listen } from './https-servers.ts'

export type ReceivedRequest = {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

export type Script = (response: ServerResponse, request: ReceivedRequest) => void

export function json(status: number, body: unknown): Script {
  return answerScript(status, JSON.stringify(body), { 'content-type': 'application/json' })
}

export function answerScript(
  status: number,
  body: string | Buffer = '',
  headers: Record<string, string> = {},
): Script {
  return (response) => {
    response.writeHead(status, headers).end(body)
  }
}

export function awsError(status: number, kind: string) {
  return answerScript(status, '{"Message":"no"}', { 'x-amzn-errortype': kind })
}

export function silence() {}

export function cut(response: ServerResponse) {
  response.destroy()
}

/** The server is closed after the test. */
export async function startScriptedServer(script: Script) {
  const requests: ReceivedRequest[] = []
  const server = createServer((incoming, response) => {
    const chunks: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
    incoming.on('end', () => {
      const request = {
        method: incoming.method ?? '',
        url: incoming.url ?? '',
        headers: incoming.headers,
        body: Buffer.concat(chunks).toString('utf8'),
      }
      requests.push(request)
      script(response, request)
    })
  })
  const port = await listen(server)
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { url: `http://127.0.0.1:${port}`, requests, close }
}

/** No server listens there any more. */
export async function closedUrl(host = '127.0.0.1') {
  const server = await startScriptedServer(silence)
  await server.close()
  return server.url.replace('127.0.0.1', host)
}
