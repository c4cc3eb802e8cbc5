import { setTimeout as sleep } from 'node:timers/promises'
import { awsClients } from '../check/aws-clients.ts'
import { stageNamed } from '../check/stage-named.ts'
import { runRestore } from './run-restore.ts'

const io = { env: process.env, sleep, connect: awsClients, stageNamed }
process.exitCode = await runRestore(process.argv.slice(2), io)
