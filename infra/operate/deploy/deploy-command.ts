import { UsageError } from '../../local/terminal/command-line.ts'

export type DeployCommand = {
  readonly stage: string
  readonly checkOnly: boolean
  readonly help: boolean
  /** For `cdk deploy`, as given. */
  readonly flags: readonly string[]
}

/** What `cdk deploy` is given as it is. It ignores flags it does not know: a slip such as --chek would deploy. */
const PASSED_ON = new Map<string, 'alone' | 'with a value'>(
  Object.entries({
    '--require-approval': 'with a value',
    '--import-existing-resources': 'alone',
    '--no-rollback': 'alone',
    '--revert-drift': 'alone',
    '--method': 'with a value',
    '--verbose': 'alone',
    '-v': 'alone',
    '--progress': 'with a value',
    '--outputs-file': 'with a value',
  }),
)

const STAGE_ONLY = 'name the stage with --stage NAME'

/** What would deploy something else than what was looked at, and what to do instead. */
const INSTEAD = new Map(
  Object.entries({
    '--profile': 'set AWS_PROFILE',
    '--region': 'set AWS_REGION',
    '--role-arn': 'set AWS_PROFILE to a profile with that role',
    '-r': 'set AWS_PROFILE to a profile with that role',
    '--app': 'the app is this project',
    '-a': 'the app is this project',
    '--context': STAGE_ONLY,
    '-c': STAGE_ONLY,
  }),
)

export const DEPLOY_HELP = `npm run deploy -- --stage NAME [--check] [flags of cdk deploy]

Looks first at everything the deployment needs, one line each, and starts it only when nothing is missing.
  --stage NAME   prod, dev, or one of your own
  --check        look only
  --help, -h     this text
Account and region are those of AWS_PROFILE and AWS_REGION. Goes to cdk deploy, and nothing else does:
  ${[...PASSED_ON.keys()].join(' ')}
Exit code: 0 done, 1 something is missing, 2 called wrongly, otherwise the code of cdk.`

/** Splits our own flags from those of `cdk deploy`. Throws `UsageError` on everything else. */
export const parseDeployCommand = (argv: readonly string[]): DeployCommand => {
  const flags: string[] = []
  let stage: string | undefined
  let checkOnly = false
  let help = false
  for (let at = 0; at < argv.length; at++) {
    const argument = argv[at] ?? ''
    const [name, value] = splitOnce(argument)
    if (name === '--stage') stage = onlyOne(stage, valueOf(name, value ?? argv[++at]))
    else if (argument === '--check') checkOnly = true
    else if (argument === '--help' || argument === '-h') help = true
    else if (PASSED_ON.get(name) === 'alone' && value === undefined) flags.push(argument)
    else if (PASSED_ON.get(name) === 'with a value') flags.push(name, valueOf(name, value ?? argv[++at]))
    else throw refusal(argument, name)
  }
  if (stage === undefined && !help) throw new UsageError(STAGE_ONLY)
  return { stage: stage ?? '', checkOnly, help, flags }
}

/** The last of two would be deployed, and the first was meant. */
const onlyOne = (before: string | undefined, stage: string): string => {
  if (before !== undefined) throw new UsageError('--stage is given twice')
  return stage
}

const splitOnce = (argument: string): readonly [string, string | undefined] => {
  const at = argument.indexOf('=')
  return at < 0 ? [argument, undefined] : [argument.slice(0, at), argument.slice(at + 1)]
}

const valueOf = (name: string, value: string | undefined): string => {
  if (value === undefined || value === '' || value.startsWith('-')) throw new UsageError(`${name} needs a value`)
  return value
}

const refusal = (argument: string, name: string): UsageError => {
  const instead = INSTEAD.get(name)
  if (instead !== undefined) return new UsageError(`${name} is not taken: ${instead}`)
  return argument.startsWith('-')
    ? new UsageError(`unknown flag: ${argument}`)
    : new UsageError(`unexpected argument: ${argument}; every stack of the stage is deployed, ${STAGE_ONLY}`)
}
