import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { stackNameOf } from '../../stack/stack-name-of.ts'
import type { DeployedStage } from '../../stack/stage.ts'
import { type AwsClients, awsClients, describedStack, wasCreated } from '../check/aws-clients.ts'
import { checkSettings } from '../check/check-settings.ts'
import { type Finding, ok, runCheck, wrong } from '../check/finding.ts'
import { bootstrapChecks, checkCredentials, checkDomain, checkSpareConcurrency } from './check-account.ts'
import { checkLeftovers } from './check-leftovers.ts'

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

/**
 * What `cdk deploy` would not say at all, or only after harm is done: a stage for which production's settings are missing,
 * packages or an account by mistake, a first deployment that has to be taken back. Reads only.
 */
export const preflight = async (
  { stage, region, flags, root }: PreflightInput,
  connect: (region: string) => AwsClients = awsClients,
): Promise<Preflight> => {
  const here = [...checkSettings(stage), ...(await runCheck('packages', async () => checkInstalled(root)))]
  if (region === undefined) {
    const todo = 'set AWS_REGION, or a region in the profile; for Indonesia it is ap-southeast-3'
    return { findings: [...here, wrong('region', 'none is set', todo)], first: false }
  }
  const aws = connect(region)
  const credentials = await checkCredentials(aws.sts, region)
  if (credentials.state !== 'ok') return { findings: [...here, credentials], first: false }
  let first = false
  const status = async (StackName: string): Promise<string | undefined> => {
    const stack = await describedStack(aws.cloudFormation, StackName)
    return stack !== undefined && wasCreated(stack) ? stack.StackStatus : undefined
  }
  const found = await Promise.all([
    ...bootstrapChecks(aws, stage, region).map(({ what, check }) => runCheck(what, check)),
    runCheck('domain', () => checkDomain(aws.route53, stage.domain)),
    runCheck('data stack', async () => {
      // One whose creation broke off holds its names itself, and is gone on with.
      const is = await status(stackNameOf(stage, 'data'))
      if (is !== undefined) return ok('data stack', `${stackNameOf(stage, 'data')} is ${is}`)
      return [ok('data stack', 'is not there yet'), ...(await checkLeftovers(aws, { stage, region, flags }))]
    }),
    runCheck('stack', async () => {
      const is = await status(stackNameOf(stage))
      first = is === undefined || is === 'CREATE_FAILED'
      if (is !== undefined) return ok('stack', `${stackNameOf(stage)} is ${is}`)
      return [ok('stack', 'is not there yet'), await checkSpareConcurrency(aws.lambda, stage)]
    }),
  ])
  return { findings: [...here, credentials, ...found.flat()], first }
}

const MAY_BE_MISSING = ['optional', 'devOptional', 'peer'] as const
const Package = v.looseObject({ version: v.optional(v.string()) })
const Lock = v.object({ packages: v.record(v.string(), Package) })

const packagesIn = (path: string) => v.parse(Lock, JSON.parse(readFileSync(path, 'utf8'))).packages

/** Whether what will be bundled and deployed is what the lock file says, to the version. */
export const checkInstalled = (root: string): Finding => {
  let installed: ReturnType<typeof packagesIn>
  try {
    installed = packagesIn(join(root, 'node_modules/.package-lock.json'))
  } catch {
    return wrong('packages', 'not installed', 'npm ci')
  }
  const [first, ...others] = Object.entries(packagesIn(join(root, 'package-lock.json'))).filter(([path, locked]) => {
    const found = installed[path]?.version
    // A package for another platform is in the lock file only; nothing else may be missing.
    if (found === undefined && MAY_BE_MISSING.some((kind) => locked[kind])) return false
    return path !== '' && found !== locked.version
  })
  if (first === undefined) return ok('packages', 'as the lock file says')
  return wrong('packages', `${1 + others.length} differ from the lock file, ${first[0]} among them`, 'npm ci')
}
