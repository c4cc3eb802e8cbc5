import { setTimeout as sleep } from 'node:timers/promises'
import { runDoctor } from './run-doctor.ts'

process.exitCode = await runDoctor(process.argv.slice(2), {
  env: process.env,
  nowMs: Date.now,
  sleep,
})
