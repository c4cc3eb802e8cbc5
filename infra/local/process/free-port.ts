import { createServer } from 'node:net'

/** A port of 127.0.0.1 that was free a moment ago. Another process may still take it: starters check who answers. */
export const freePort = async (): Promise<number> => {
  const server = createServer()
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const address = server.address()
  await new Promise<void>((resolve) => server.close(() => resolve()))
  if (address === null || typeof address === 'string') throw new Error('no port was given')
  return address.port
}
