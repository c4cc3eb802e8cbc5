import { enableCompileCache } from 'node:module'

// Loading takes most of a call's time. The cache is in the system's temporary directory. This file
// is JavaScript: to start with TypeScript, Node would load its compiler before the cache is on.
enableCompileCache()
const { runAdmin } = await import('./run-admin.ts')

// A reader that closes the pipe (`| head`) ends no call of an action.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
process.exitCode = await runAdmin(process.argv.slice(2), {
  out: console.log,
  err: console.error,
  env: process.env,
})
