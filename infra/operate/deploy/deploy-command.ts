import { readOptions, UsageError } from '../../local/terminal/command-line.ts'

/** What `cdk deploy` is given as it is. It ignores flags it does not know: a slip such as --chek would deploy. */
const PASSED_ON = {
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
  ...PASSED_ON,
} as const

export const DEPLOY_HELP = `npm run deploy -- --stage NAME [--check | --init] [flags of cdk deploy]

Looks first at what cdk deploy would not say before it does harm, one line each, and starts it when nothing is missing.
  --stage NAME   prod, dev, or one of your own; all of its stacks
  --check        look only
  --init         for a first deployment: say which quotas to request, make what is missing, deploy, and say what only a
                 person can do. Again, once that is done: run the rare schedules, and ask the doctor
  --help, -h     this text
Account and region are those of AWS_PROFILE and AWS_REGION. Goes to cdk deploy, and nothing else does:
  ${Object.keys(PASSED_ON)
    .map((flag) => `--${flag}`)
    .join(' ')}
Exit code: 0 done, 1 something is missing, 2 called wrongly, otherwise the code of cdk, or of the doctor.`

export type DeployCommand = {
  readonly stage: string | undefined
  readonly checkOnly: boolean
  /** A first deployment. */
  readonly init: boolean
  /** For `cdk deploy`. */
  readonly flags: readonly string[]
}

/** Splits our own flags from those of `cdk deploy`. Throws `UsageError` on everything else. */
export const parseDeployCommand = (argv: readonly string[]): DeployCommand => {
  const { stage, check, init, ...passed } = readOptions(argv, OPTIONS)
  if (check && init) throw new UsageError('--check looks only, and --init makes: give one of them')
  const flags = Object.entries(passed).flatMap(([name, value]) =>
    typeof value === 'string' ? [`--${name}`, value] : [`--${name}`],
  )
  return { stage, checkOnly: check, init, flags }
}
