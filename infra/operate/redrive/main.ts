import { setTimeout as sleep } from 'node:timers/promises'
import { awsClients } from '../check/aws-clients.ts'
import { runRedrive } from './run-redrive.ts'

process.exitCode = await runRedrive(process.argv.slice(2), {
  out: (text) => console.log(text),
  err: (text) => console.error(text),
  env: process.env,
  sleep: async (ms) => {
    await sleep(ms)
  },
  nowMs: Date.now,
  connect: (region) => awsClients(region).sqs,
})
