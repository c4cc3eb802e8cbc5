import { runCdk, runDeploy } from './run-deploy.ts'

process.exitCode = await runDeploy(process.argv.slice(2), { env: process.env, runCdk })
