import { once } from 'node:events'
import { createServer } from 'node:net'

/*
 * Why not a port that the system chooses: a gateway takes four ports in a row, and the system
 * gives the three after the free one to any connection of another test.
 */

/** Below the ports that systems give to outgoing connections: 32,768 and above. */
const FIRST_PORT = 12_000
const ROWS = 5_000
const ROW_LENGTH = 4

let rowsTaken = 0

/** The first of four free ports in a row. Every test process begins at another row. */
export async function ownPorts() {
  for (let tries = 0; tries < ROWS; tries++) {
    const row = (process.pid * 37 + rowsTaken++) % ROWS
    const first = FIRST_PORT + row * ROW_LENGTH
    const ports = Array.from({ length: ROW_LENGTH }, (_, offset) => first + offset)
    if ((await Promise.all(ports.map(isFree))).every(Boolean)) return first
  }
  throw new Error('no four free ports in a row: end the programs that listen on them')
}

async function isFree(port: number) {
  const server = createServer().listen(port, '127.0.0.1')
  try {
    await once(server, 'listening')
  } catch {
    return false
  }
  server.close()
  await once(server, 'close')
  return true
}
