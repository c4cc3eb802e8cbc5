import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { type DeployedStage, FRONT_REGION, stackNameOf } from '../../stack/stage.ts'
import { awsClients, describeStack, wasCreated } from '../check/aws-clients.ts'
import {
  bootstrapChecks,
  checkCredentials,
  checkDomain,
  checkSpareConcurrency,
} from '../check/check-account.ts'
import { checkReferences } from '../check/check-references.ts'
import { checkSettings } from '../check/check-settings.ts'
import { ok, runCheck, wrong } from '../check/finding.ts'

export type PreflightInput = {
  readonly stage: DeployedStage
  readonly region: string | undefined
  readonly root: string
}

/**
 * Finds what `cdk deploy` would report too late or never: missing settings of a production stage,
 * wrong packages or account, a first deployment that CloudFormation would roll back. Changes
 * nothing.
 */
export async function preflight({ stage, region, root }: PreflightInput) {
  const localFindings = [
    ...checkSettings(stage),
    ...(await runCheck('packages', async () => checkInstalled(root))),
  ]
  const aws = awsClients(region)
  const credentials = await checkCredentials(aws.sts, region, stage)
  if (region === undefined || credentials.state !== 'ok')
    return { findings: [...localFindings, credentials], first: false }
  // Some steps are possible only after a stack's first deployment.
  let first = false
  const accountFindings = await Promise.all([
    ...bootstrapChecks(aws, stage, region).map(({ what, check }) => runCheck(what, check)),
    runCheck('domain', () => checkDomain(aws.route53, stage.domain)),
    // The functions would lose the front's secret, and the API could not get the front's name.
    runCheck('front', async () => {
      const name = stackNameOf(stage, 'front')
      if (stage.front !== 'none') return []
      const isThere = await describeStack(aws.cloudFormationIn(FRONT_REGION), name)
      return isThere
        ? wrong(
            'front',
            `${name} is still there`,
            'docs/operations.md, "The front on a live stage"',
          )
        : []
    }),
    runCheck('stack', async () => {
      const stack = await describeStack(aws.cloudFormation, stackNameOf(stage))
      const status = stack && wasCreated(stack) ? stack.StackStatus : undefined
      first = status === undefined || status === 'CREATE_FAILED'
      if (status !== undefined)
        return [
          ok('stack', `${stackNameOf(stage)} is ${status}`),
          ...(await checkReferences(aws, stage)),
        ]
      return [ok('stack', 'is not there yet'), await checkSpareConcurrency(aws.lambda, stage)]
    }),
  ])
  return { findings: [...localFindings, credentials, ...accountFindings.flat()], first }
}

const MAY_BE_MISSING = ['optional', 'devOptional', 'peer'] as const

/** Whether the installed packages have exactly the versions of the lock file. */
export function checkInstalled(root: string) {
  let installed: ReturnType<typeof packagesIn>
  try {
    installed = packagesIn(join(root, 'node_modules/.package-lock.json'))
  } catch {
    return wrong('packages', 'not installed', 'npm ci')
  }
  const [first, ...others] = Object.entries(packagesIn(join(root, 'package-lock.json'))).filter(
    ([path, locked]) => {
      const version = installed[path]?.version
      // Only a package for another platform may be missing.
      if (version === undefined && MAY_BE_MISSING.some((kind) => locked[kind])) return false
      return path !== '' && version !== locked.version
    },
  )
  if (first === undefined) return ok('packages', 'as the lock file says')
  return wrong(
    'packages',
    `${1 + others.length} differ from the lock file, ${first[0]} among them`,
    'npm ci',
  )
}

const Package = v.looseObject({ version: v.optional(v.string()) })
const Lock = v.object({ packages: v.record(v.string(), Package) })

function packagesIn(path: string) {
  return v.parse(Lock, JSON.parse(readFileSync(path, 'utf8'))).packages
}
