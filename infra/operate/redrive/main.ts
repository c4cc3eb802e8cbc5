import { setTimeout as sleep } from 'node:timers/promises'
import { runRedrive } from './run-redrive.ts'

process.exitCode = await runRedrive(process.argv.slice(2), { env: process.env, sleep })
