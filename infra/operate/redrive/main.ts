import { setTimeout as sleep } from 'node:timers/promises'
import { awsClients } from '../check/aws-clients.ts'
import { runRedrive } from './run-redrive.ts'

const connect = (region: string) => awsClients(region).sqs
process.exitCode = await runRedrive(process.argv.slice(2), { env: process.env, sleep, connect })
