import type { DeployedStage } from '../../stack/stage.ts'
import { type AwsClients, awsClients, GLOBAL_REGION } from '../check/aws-clients.ts'
import { checkAccountConcurrency } from '../check/check-account-concurrency.ts'
import { type Finding, ok, tolerated, wrong } from '../check/finding.ts'
import { look } from '../check/look.ts'
import { checkBootstrap, checkConcurrency, checkCredentials } from './check-account.ts'
import { checkDomain } from './check-domain.ts'
import { checkInstalled } from './check-installed.ts'
import { checkFrontStack, checkStack } from './check-stack.ts'
import { checkStage } from './check-stage.ts'

export type PreflightInput = {
  readonly stage: DeployedStage
  readonly region: string | undefined
  /** Passed on to `cdk deploy`. */
  readonly flags: readonly string[]
  readonly root: string
}

export type Preflight = {
  readonly findings: readonly Finding[]
  /** The stack is not there yet: some things can be done only after its first deployment. */
  readonly first: boolean
}

/** Everything a deployment needs, looked at before anything starts. Reads only. */
export const preflight = async (
  { stage, region, flags, root }: PreflightInput,
  connect: (region: string) => AwsClients = awsClients,
): Promise<Preflight> => {
  const here = [...checkStage(stage), ...(await look('packages', async () => checkInstalled(root)))]
  if (region === undefined) {
    const todo = 'set AWS_REGION, or a region in the profile; for Indonesia it is ap-southeast-3'
    return { findings: [...here, wrong('region', 'none is set', todo)], first: false }
  }
  const aws = connect(region)
  const credentials = await checkCredentials(aws)
  const known = [...here, ok('region', region), credentials]
  return credentials.state === 'ok'
    ? inTheAccount({ stage, region, flags }, aws, known)
    : { findings: known, first: false }
}

const inTheAccount = async (
  { stage, region, flags }: Omit<PreflightInput, 'region' | 'root'> & { readonly region: string },
  aws: AwsClients,
  known: readonly Finding[],
): Promise<Preflight> => {
  let first = false
  const inFront = stage.front === 'cloudfront' && region !== GLOBAL_REGION
  const found = await Promise.all([
    look(`CDK bootstrap in ${region}`, () => checkBootstrap(aws.cloudFormation, region)),
    ...(inFront
      ? [look(`CDK bootstrap in ${GLOBAL_REGION}`, () => checkBootstrap(aws.globalCloudFormation, GLOBAL_REGION))]
      : []),
    look('domain', () => checkDomain(aws.route53, stage.domain)),
    look('Lambda concurrency', () => checkConcurrency(aws.lambda, stage)),
    look('account concurrency', async () => (await checkAccountConcurrency(aws.lambda, stage)).map(tolerated)),
    look('stack', async () => {
      const checked = await checkStack(aws, { stage, region, flags })
      first = checked.first
      return checked.findings
    }),
    ...(stage.front === 'cloudfront' ? [look('front stack', () => checkFrontStack(aws, stage, flags))] : []),
  ])
  return { findings: [...known, ...found.flat()], first }
}
