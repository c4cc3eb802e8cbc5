import { runDoctor } from './run-doctor.ts'

process.exitCode = await runDoctor(process.argv.slice(2), {
  out: (text) => console.log(text),
  err: (text) => console.error(text),
  env: process.env,
})
