import { text } from 'node:stream/consumers'
import { pause } from '../../local/process/pause.ts'
import { runListen } from './run-listen.ts'

const stopping = new AbortController()
for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, () => stopping.abort())
// The reader may close the pipe, as in `npm run listen | head`.
process.stdout.on('error', () => stopping.abort())

process.exitCode = await runListen(process.argv.slice(2), {
  env: process.env,
  readInput: async () => (process.stdin.isTTY ? '' : text(process.stdin)),
  sleep: (ms) => pause(ms, stopping.signal),
  signal: stopping.signal,
})
