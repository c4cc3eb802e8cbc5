import * as aws from '@aws-sdk/client-cloudformation'
import { type DeployedStage, stackNameOf } from '../../stack/stage.ts'
import { type AwsClients, describeStack, wasCreated } from '../check/aws-clients.ts'
import { type Finding, findingsOrOk, ok, runCheck, unclear, wrong } from '../check/finding.ts'

export type Waiting = {
  readonly nowMs: () => number
  readonly sleep: (ms: number) => Promise<unknown>
}

export type Examination = Waiting & {
  readonly stage: DeployedStage
  readonly aws: AwsClients
  /** By default the address that the functions use. */
  readonly providerUrl?: string
}

const POLL_MS = 5_000
/** CloudFormation takes a minute or two for a few hundred resources. */
const DEADLINE_MS = 600_000

const REPAIR =
  'repair what its events name, then aws cloudformation continue-update-rollback or ' +
  'rollback-stack; if the stack was never created: docs/operations.md, section 1'
const RESTORE = 'docs/operations.md, "7. Restoring the table"'
const REVERT =
  'find out who changed it and why; npm run deploy with --revert-drift reverts the change'
const MAY_NOT_READ = 'use credentials that may read every resource of the stack'

/** Answers the stack if its creation succeeded. The findings also say whether it has drifted. */
export async function checkStack(
  { stage, aws: clients, ...waiting }: Examination,
  what: string,
  part?: string,
  /** If other than the region of the gateway. */
  region?: string,
): Promise<{ readonly stack: aws.Stack | undefined; readonly findings: readonly Finding[] }> {
  const client = region ? clients.cloudFormationIn(region) : clients.cloudFormation
  const StackName = stackNameOf(stage, part)
  let stack: aws.Stack | undefined
  const findings = await runCheck(what, async () => {
    const described = await describeStack(client, StackName)
    if (!described)
      return wrong(what, `${StackName} is not deployed here`, 'npm run deploy, or another region')
    const status: string = described.StackStatus ?? '?'
    const detail = `${StackName} is ${status}`
    // Checks of a stage during its deployment prove nothing.
    if (status.endsWith('_IN_PROGRESS'))
      return unclear(what, detail, 'wait until the deployment is over')
    if (wasCreated(described)) stack = described
    return /FAILED|^ROLLBACK/.test(status) ? wrong(what, detail, REPAIR) : ok(what, detail)
  })
  if (!stack) return { stack, findings }
  const drift = await runCheck(`drift of ${StackName}`, () =>
    checkDrift(client, StackName, waiting),
  )
  return { stack, findings: [...findings, ...drift] }
}

/**
 * Finds manual changes of properties that the template sets. Names the properties, never their
 * values, because a value may be secret.
 */
async function checkDrift(client: aws.CloudFormationClient, StackName: string, waiting: Waiting) {
  const what = `drift of ${StackName}`
  const { StackDriftDetectionId: id } = await client.send(
    new aws.DetectStackDriftCommand({ StackName }),
  )
  const status = await waitForDetection(client, id, waiting)
  if (status === undefined)
    return unclear(what, 'CloudFormation has not compared everything yet', 'try again later')
  const findings: Finding[] = []
  for await (const { StackResourceDrifts: drifts = [] } of aws.paginateDescribeStackResourceDrifts(
    { client, pageSize: 100, stopOnSameToken: true },
    { StackName, StackResourceDriftStatusFilters: ['MODIFIED', 'DELETED', 'UNKNOWN'] },
  )) {
    findings.push(...drifts.flatMap(driftFinding))
  }
  if (status !== 'DETECTION_COMPLETE')
    findings.push(unclear(what, 'not everything could be compared', MAY_NOT_READ))
  return findingsOrOk(findings, what, 'none')
}

async function waitForDetection(
  client: aws.CloudFormationClient,
  id: string | undefined,
  { nowMs, sleep }: Waiting,
) {
  const command = new aws.DescribeStackDriftDetectionStatusCommand({ StackDriftDetectionId: id })
  const deadlineMs = nowMs() + DEADLINE_MS
  for (let poll = 0; poll < DEADLINE_MS / POLL_MS && nowMs() < deadlineMs; poll++) {
    await sleep(POLL_MS)
    const { DetectionStatus: status } = await client.send(command)
    if (status !== 'DETECTION_IN_PROGRESS') return status
  }
  return undefined
}

function driftFinding(drift: aws.StackResourceDrift) {
  const {
    ResourceType: type = '?',
    StackResourceDriftStatus: status,
    PropertyDifferences: differences = [],
  } = drift
  const what = `${type} ${drift.PhysicalResourceId ?? drift.LogicalResourceId ?? '?'}`
  const todo = type === 'AWS::DynamoDB::GlobalTable' ? RESTORE : REVERT
  if (status === 'DELETED') return [wrong(what, 'is missing', todo)]
  if (status === 'UNKNOWN') return [unclear(what, 'could not be compared', MAY_NOT_READ)]
  const paths = differences
    .filter((difference) => !isSameKey(difference))
    .map(({ PropertyPath: path = '?' }) => path)
  if (paths.length === 0 && differences.length > 0) return []
  return [wrong(what, `was changed: ${paths.join(', ')}`, todo)]
}

/** DynamoDB answers a key's id for the template's ARN, which CloudFormation reports as a change. */
function isSameKey({
  ExpectedValue: expected = '',
  ActualValue: actual = '?',
}: aws.PropertyDifference) {
  return /^arn:[\w-]+:kms:/.test(expected) && expected.endsWith(`:key/${actual}`)
}
