import { writeFileSync } from 'node:fs'
import { request as httpRequest } from 'node:http'
import { createServer } from 'node:https'
import { join } from 'node:path'
import { onTestFinished } from 'vitest'
import { PROVIDER_KEY } from '../../infra/local/provider-simulator/simulator-keys.ts'
import { listen, selfSignedCertificate } from '../support/https-servers.ts'
import { aSimulator } from '../support/provider-simulator-harness.ts'
import { tempDirectory } from '../support/temp-directory.ts'

const NAME = 'api.provider.test'

/**
 * The provider's simulator at a public name with a certificate, as the provider's test mode is. The
 * environment is for a process: there the name is this machine's, and the certificate is trusted.
 */
export async function providerBehindTls() {
  const running = await aSimulator()
  onTestFinished(running.close)
  const certificate = selfSignedCertificate(NAME)
  const target = new URL(running.simulator.url)
  const front = createServer(certificate, (incoming, response) => {
    const headers = { ...incoming.headers, host: target.host }
    const { method = 'GET', url = '/' } = incoming
    const call = httpRequest(new URL(url, target), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    call.on('error', () => response.destroy())
    incoming.pipe(call)
  })
  const port = await listen(front)
  const names = join(tempDirectory(), 'names.mjs')
  writeFileSync(names, NAMES)
  return {
    ...running,
    url: `https://${NAME}:${port}`,
    env: {
      NODE_EXTRA_CA_CERTS: certificate.certFile,
      NODE_OPTIONS: `--import=${names}`,
      XENDIT_API_URL: `https://${NAME}:${port}`,
      XENDIT_SECRET_KEY: PROVIDER_KEY,
    } satisfies NodeJS.ProcessEnv,
  }
}

/** The name has no entry in any resolver, so the process resolves it itself. */
const NAMES = `
import dns from 'node:dns'
const lookup = dns.lookup
dns.lookup = (name, ...rest) => lookup(name === '${NAME}' ? '127.0.0.1' : name, ...rest)
`
