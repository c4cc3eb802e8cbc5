export type DeployCommand = {
  readonly stage: string
  readonly checkOnly: boolean
  readonly help: boolean
  /** For `cdk deploy`, as given. */
  readonly flags: readonly string[]
}

export class DeployUsageError extends Error {
  override readonly name = 'DeployUsageError'
}

export const DEPLOY_HELP = `npm run deploy -- --stage NAME [--check] [flags of cdk deploy]

Looks first at everything the deployment needs, one line each, and starts it only when nothing is missing.
  --stage NAME   prod, dev, or one of your own
  --check        look only
Everything else goes to cdk deploy: --require-approval never, --import-existing-resources, ...
Exit code: 0 done, 1 something is missing, 2 called wrongly, otherwise the code of cdk.`

/** Splits our own flags from those of `cdk deploy`. */
export const parseDeployCommand = (argv: readonly string[]): DeployCommand => {
  const flags: string[] = []
  let stage: string | undefined
  let checkOnly = false
  let help = false
  for (let at = 0; at < argv.length; at++) {
    const argument = argv[at] ?? ''
    if (argument === '--stage') stage = argv[++at] ?? ''
    else if (argument.startsWith('--stage=')) stage = argument.slice('--stage='.length)
    else if (argument === '--check') checkOnly = true
    else if (argument === '--help') help = true
    // The stage that was looked at must be the one that is deployed.
    else if (argument.startsWith('stage=') || /^(-c|--context)=?stage=/.test(argument)) {
      throw new DeployUsageError('name the stage with --stage NAME')
    } else flags.push(argument)
  }
  if (stage === undefined && !help) throw new DeployUsageError('name the stage with --stage NAME')
  return { stage: stage ?? '', checkOnly, help, flags }
}
