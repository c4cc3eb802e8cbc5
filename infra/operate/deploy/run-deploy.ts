import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { callbackSecretName, providerSecretName } from '../../../shared/secrets.ts'
import { readOptions, runCommand, UsageError } from '../../local/terminal/command-line.ts'
import { printableLines } from '../../local/terminal/printable.ts'
import { PROJECT_ROOT } from '../../stack/project-root.ts'
import type { DeployedStage } from '../../stack/stage.ts'
import { awsClients } from '../check/aws-clients.ts'
import { checkReferences } from '../check/check-references.ts'
import { type Finding, forStage, hasWrong, renderFindings, runCheck } from '../check/finding.ts'
import { REPOSITORY } from '../check/pipeline-role.ts'
import { regionOf } from '../check/region-of.ts'
import { stageNamed } from '../check/stage-named.ts'
import { initStage } from './init-stage.ts'
import { preflight } from './preflight.ts'

/**
 * `cdk deploy` gets these unchanged. cdk ignores unknown flags, so a mistake such as --chek would
 * deploy.
 */
const CDK_FLAGS = {
  /** Stacks that another job of the pipeline has synthesised. */
  app: { type: 'string' },
  'require-approval': { type: 'string' },
  'import-existing-resources': { type: 'boolean' },
  'no-rollback': { type: 'boolean' },
  'revert-drift': { type: 'boolean' },
  method: { type: 'string' },
  verbose: { type: 'boolean', short: 'v' },
  progress: { type: 'string' },
  'outputs-file': { type: 'string' },
} as const

const OPTIONS = {
  stage: { type: 'string' },
  check: { type: 'boolean', default: false },
  init: { type: 'boolean', default: false },
  repository: { type: 'string' },
  ...CDK_FLAGS,
} as const

const DEPLOY_HELP = `npm run deploy -- --stage NAME [--check | --init [--repository NAME]] [flags of cdk deploy]

Checks what a deployment needs, in one line each. If nothing is missing, it runs cdk deploy.
  --stage NAME   prod, dev, or your own stage; deploys all of its stacks
  --check        only check
  --init         for a first deployment: lists the quotas to request, creates what is missing, deploys, and lists the manual
                 steps. After those, run it again: it runs the rare schedules and the doctor
  --repository   with --init: makes the role of the pipeline, which trusts this repository of GitHub:
                 OWNER@OWNER_ID/REPOSITORY@REPOSITORY_ID
  --help, -h     this text
AWS_PROFILE and AWS_REGION choose account and region. cdk deploy gets only these flags:
  --${Object.keys(CDK_FLAGS).join(' --')}
Exit code: 0 done, 1 something is missing, 2 wrong arguments, otherwise the code of cdk or the doctor.`

export type DeployIo = {
  readonly env: NodeJS.ProcessEnv
  /** Answers the exit code. */
  readonly runCdk: (args: readonly string[], env: NodeJS.ProcessEnv) => Promise<number>
  readonly preflight?: typeof preflight
  readonly initStage?: typeof initStage
  readonly checkReferences?: typeof checkReferences
  readonly finish: (stage: string, env: NodeJS.ProcessEnv) => Promise<number>
}

/** Deploys all stacks of the stage if nothing that a deployment needs is missing. */
export function runDeploy(argv: readonly string[], io: DeployIo) {
  return runCommand(DEPLOY_HELP, argv, async () => {
    const { stage: name, checkOnly, init, repository, flags } = parseDeployCommand(argv)
    const region = await regionOf(io.env)
    const env = { ...io.env, AWS_REGION: region }
    const cdk = (args: readonly string[]) => io.runCdk(args, env)
    let lacksRole = false
    if (init && region !== undefined) {
      const stage = stageNamed(name)
      const input = { stage, region, root: PROJECT_ROOT, repository, runCdk: cdk }
      const made = await (io.initStage ?? initStage)(input)
      printFindings(stage, made)
      // No later check reads the role.
      const hasRole = made.some(({ what, state }) => what.startsWith('role ') && state === 'ok')
      lacksRole = repository !== undefined && !hasRole
    }
    // --init may have changed the file.
    const stage = stageNamed(name)
    const { findings, first } = await (io.preflight ?? preflight)({
      stage,
      region,
      root: PROJECT_ROOT,
    })
    printFindings(stage, findings)
    if (hasWrong(findings)) {
      console.error('\nNothing was deployed.')
      if (init) console.log(manualSteps(stage))
      return 1
    }
    if (checkOnly) return 0
    const code = await cdk([
      'deploy',
      '--all',
      '--no-notices',
      '-c',
      `stage=${stage.settings.name}`,
      ...flags,
    ])
    if (code !== 0 || flags.includes('prepare-change-set')) return code
    // CDK does not update the readers of a stack made anew.
    const references = await runCheck('references between stacks', () =>
      (io.checkReferences ?? checkReferences)(awsClients(region), stage),
    )
    if (hasWrong(references)) {
      printFindings(stage, references)
      return 1
    }
    if (first) console.log(manualSteps(stage))
    const finished = init && !first ? await io.finish(stage.settings.name, env) : 0
    return finished || Number(lacksRole)
  })
}

/** Our own flags, and those of `cdk deploy`. Throws `UsageError` for any other argument. */
export function parseDeployCommand(argv: readonly string[]) {
  const { stage, check, init, repository, ...cdkFlags } = readOptions(argv, OPTIONS)
  if (check && init)
    throw new UsageError('give --check or --init, not both: --check changes nothing')
  if (repository !== undefined && !(init && REPOSITORY.test(repository)))
    throw new UsageError(
      '--repository is OWNER@OWNER_ID/REPOSITORY@REPOSITORY_ID, and needs --init',
    )
  const flags = Object.entries(cdkFlags).flatMap(([name, value]) =>
    typeof value === 'string' ? [`--${name}`, value] : [`--${name}`],
  )
  return { stage, checkOnly: check, init, repository, flags }
}

function printFindings({ settings }: DeployedStage, findings: readonly Finding[]) {
  console.log(
    printableLines(
      renderFindings(forStage(findings, settings.name), {
        ok: 'ok',
        wrong: 'missing',
        unclear: 'could not look',
      }),
    ),
  )
}

function manualSteps({ settings: { name }, domain, alarmRecipients }: DeployedStage) {
  const steps = [
    ...(domain
      ? [`enter the servers of zone ${domain.zone.id} at the registrar of ${domain.zone.name}`]
      : []),
    `in the provider's dashboard make a key, enter the callback URL, copy its token; put both into the secrets ${providerSecretName(name)} and ${callbackSecretName(name)}`,
    ...(alarmRecipients.length > 0
      ? [`have ${alarmRecipients.join(', ')} confirm each subscription`]
      : []),
    `then run the rare schedules and the doctor: npm run deploy -- --stage ${name} --init`,
  ]
  return `\nManual steps, each described in docs/operations.md, section 1:\n${steps.map((step, at) => `  ${at + 1}. ${step}`).join('\n')}`
}

/** CDK gets our terminal, because it may ask for an approval. */
export function runCdk(args: readonly string[], env: NodeJS.ProcessEnv): Promise<number> {
  return new Promise((resolve, reject) => {
    const cdk = join(PROJECT_ROOT, 'node_modules/aws-cdk/bin/cdk')
    const child = spawn(process.execPath, [cdk, ...args], {
      cwd: PROJECT_ROOT,
      env: { ...env },
      stdio: 'inherit',
    })
    child.on('error', reject)
    child.on('close', (code) => resolve(code ?? 1))
  })
}
