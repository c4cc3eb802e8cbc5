import { setTimeout as sleep } from 'node:timers/promises'
import { finishStage } from './init-stage.ts'
import { runCdk, runDeploy } from './run-deploy.ts'

process.exitCode = await runDeploy(process.argv.slice(2), {
  env: process.env,
  runCdk,
  finish: (stage, env) => finishStage(stage, { env, nowMs: Date.now, sleep }),
})
