import { enableCompileCache } from 'node:module'

// Loading takes most of a call's time. The cache is in the system's temporary directory. This file
// is JavaScript: to start with TypeScript, Node would load its compiler before the cache is on.
enableCompileCache()
const { runAdmin } = await import('./run-admin.ts')

// A reader that closes the pipe (`| head`) does not end the calls of an action.
process.stdout.on('error', () => undefined)
process.exitCode = await runAdmin(process.argv.slice(2), {
  out: (text) => console.log(text),
  err: (text) => console.error(text),
  env: process.env,
})
