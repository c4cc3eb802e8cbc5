import { setTimeout as sleep } from 'node:timers/promises'
import { stageNamed } from '../check/stage-named.ts'
import { runRestore } from './run-restore.ts'

process.exitCode = await runRestore(process.argv.slice(2), { env: process.env, sleep, stageNamed })
