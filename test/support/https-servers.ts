import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { createServer as createTcpServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { createServer as createTlsServer } from 'node:tls'
import { onTestFinished } from 'vitest'
import { tempDirectory } from './temp-directory.ts'

/** The files of the certificate are removed after the test. */
export function selfSignedCertificate(name: string) {
  const directory = tempDirectory()
  const [keyFile, certFile] = [join(directory, 'key.pem'), join(directory, 'cert.pem')]
  const names = `-subj /CN=${name} -addext subjectAltName=DNS:${name}`
  const files = `-keyout ${keyFile} -out ${certFile}`
  const options = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 ${names} ${files}`
  execFileSync('openssl', options.split(' '), { stdio: 'ignore' })
  return { key: readFileSync(keyFile, 'utf8'), cert: readFileSync(certFile, 'utf8'), certFile }
}

/** Closes every connection after the test. */
export async function listen(server: Server) {
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(
    () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve())
        for (const socket of sockets) socket.destroy()
      }),
  )
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the server has no port')
  return address.port
}

/** Works below HTTP, where servers really misbehave. */
export function startTcpServer(behave: (socket: Socket) => void) {
  return listen(createTcpServer(behave))
}

export type Certificate = ReturnType<typeof selfSignedCertificate>

export function startTlsServer({ key, cert }: Certificate, behave: (socket: Socket) => void) {
  const server = createTlsServer({ key, cert }, behave)
  server.on('secureConnection', (socket) => socket.on('error', () => {}))
  return listen(server)
}

/** Answers the text to the first bytes, and leaves the connection open. */
export function writeOnly(text: string) {
  return (socket: Socket) => void socket.once('data', () => socket.write(text))
}
