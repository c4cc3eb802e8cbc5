import { runCdk, runDeploy } from './run-deploy.ts'

process.exitCode = await runDeploy(process.argv.slice(2), {
  out: (text) => console.log(text),
  err: (text) => console.error(text),
  env: process.env,
  runCdk,
})
