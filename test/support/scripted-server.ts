import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import { onTestFinished } from 'vitest'

export type ReceivedRequest = {
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** Writes the answer, or part of one, or nothing at all. */
export type Script = (response: ServerResponse, request: ReceivedRequest) => void

export type ScriptedServer = {
  readonly url: string
  readonly requests: ReceivedRequest[]
  close(): Promise<void>
}

/** Answers JSON with a status. */
export const json =
  (status: number, body: unknown): Script =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  }

/** Takes the request and never answers. */
export const silence: Script = () => {}

/** Takes the request and cuts the connection. */
export const cut: Script = (response) => {
  response.destroy()
}

/** An HTTP server on 127.0.0.1 that behaves as told and records what it receives; closed when the test is over. */
export const startScriptedServer = async (script: Script): Promise<ScriptedServer> => {
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
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  onTestFinished(close)
  return { url: `http://127.0.0.1:${address.port}`, requests, close }
}
