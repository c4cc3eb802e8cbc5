import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { callbackSecretName, providerSecretName } from '../../../shared/secrets.ts'
import { runCommand } from '../../local/terminal/command-line.ts'
import { printableLines } from '../../local/terminal/printable.ts'
import { PROJECT_ROOT } from '../../stack/project-root.ts'
import type { DeployedStage } from '../../stack/stage.ts'
import { hasWrong, renderFindings } from '../check/finding.ts'
import { regionOf } from '../check/region.ts'
import { stageNamed } from '../check/stage-named.ts'
import { DEPLOY_HELP, parseDeployCommand } from './deploy-command.ts'
import { preflight } from './preflight.ts'

export type DeployIo = {
  readonly env: Readonly<Record<string, string | undefined>>
  /** Runs the CDK command line and answers its exit code. */
  readonly runCdk: (args: readonly string[], env: Readonly<Record<string, string | undefined>>) => Promise<number>
  readonly preflight?: typeof preflight
}

/** The command line of CDK in a process of its own, on the terminal of this one: it may ask for an approval. */
export const runCdk: DeployIo['runCdk'] = (args, env) =>
  new Promise((resolve, reject) => {
    const cdk = join(PROJECT_ROOT, 'node_modules/aws-cdk/bin/cdk')
    const child = spawn(process.execPath, [cdk, ...args], { cwd: PROJECT_ROOT, env: { ...env }, stdio: 'inherit' })
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })

const afterFirst = ({ settings: { name } }: DeployedStage): string => `
The stage is there for the first time. What is left to do, each step in docs/operations.md:
  1. put the provider's key into the secret ${providerSecretName(name)}, and its callback token into ${callbackSecretName(name)}
  2. enter the callback URL in the provider's dashboard
  3. have every alarm recipient confirm the subscription
  4. run the rare schedules once, since their alarms count silence:
     npm run -s admin -- sweep-settlements --stage ${name}
     npm run -s admin -- sync-provider-transactions --stage ${name}
  5. npm run doctor -- --stage ${name}`

/** Looks at what a deployment needs, and deploys all stacks of the stage when nothing is missing. */
export const runDeploy = (argv: readonly string[], io: DeployIo): Promise<number> =>
  runCommand(DEPLOY_HELP, argv, async () => {
    const { stage: name, checkOnly, flags } = parseDeployCommand(argv)
    const stage = stageNamed(name)
    const region = await regionOf(io.env)
    const { findings, first } = await (io.preflight ?? preflight)({ stage, region, flags, root: PROJECT_ROOT })
    console.log(printableLines(renderFindings(findings, { ok: 'ok', wrong: 'missing', unclear: 'could not look' })))
    if (hasWrong(findings)) {
      console.error('\nNothing was started.')
      return 1
    }
    if (checkOnly) return 0
    const args = ['deploy', '--all', '--no-notices', '-c', `stage=${stage.settings.name}`, ...flags]
    const code = await io.runCdk(args, { ...io.env, AWS_REGION: region })
    if (code === 0 && first && !flags.includes('prepare-change-set')) console.log(afterFirst(stage))
    return code
  })
