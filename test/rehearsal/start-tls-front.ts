import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { createServer } from 'node:https'
import type { Certificates } from './certificates.ts'

type Options = Certificates & {
  /** Where it listens, on port 443. */
  readonly address: string
  /** Whom it speaks for: a server on this machine without TLS. */
  readonly behind: string
  /** By what the server is asked instead, of what the caller showed. */
  readonly authorized?: (authorization: string | undefined) => string
}

/** TLS before a server of this machine, on the address at which the world looks for it. */
export const startTlsFront = async ({
  address,
  behind,
  authorized,
  certificate,
  key,
}: Options): Promise<{ close(): void }> => {
  const tls = { cert: readFileSync(certificate), key: readFileSync(key) }
  const { host } = new URL(behind)
  const server = createServer(tls, (incoming, response) => {
    const { method, url, headers } = incoming
    const shown = { ...headers, host, ...(authorized && { authorization: authorized(headers.authorization) }) }
    const passed = request(new URL(url ?? '/', behind), { method, headers: shown }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    // What is cut behind is cut before.
    passed.on('error', () => response.destroy())
    incoming.pipe(passed)
  })
  server.listen(443, address)
  await once(server, 'listening')
  return {
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
