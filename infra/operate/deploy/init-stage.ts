import { GetCallerIdentityCommand } from '@aws-sdk/client-sts'
import { type DeployedStage, hasAlarms } from '../../stack/stage.ts'
import { runAdmin } from '../admin/run-admin.ts'
import { awsClients } from '../check/aws-clients.ts'
import {
  bootstrapChecks,
  checkAccountQuotas,
  checkApiRequests,
  checkCredentials,
} from '../check/check-account.ts'
import { type Finding, ok, runCheck, wrong } from '../check/finding.ts'
import { type DoctorIo, runDoctor } from '../doctor/run-doctor.ts'
import { makeOriginCertificate } from './make-origin-certificate.ts'

export type InitInput = {
  readonly stage: DeployedStage
  readonly region: string
  readonly root: string
  /** Runs the CDK command line and answers its exit code. */
  readonly runCdk: (args: readonly string[]) => Promise<number>
}

/**
 * Makes what a stage needs and its template cannot make. It lists the account's quotas first, because AWS takes days for
 * quota requests. It changes nothing that exists. One failure stops no other step; the same call may be repeated.
 */
export async function initStage({
  stage,
  region,
  root,
  runCdk,
}: InitInput): Promise<readonly Finding[]> {
  const aws = awsClients(region)
  const credentials = await checkCredentials(aws.sts, region)
  if (credentials.state !== 'ok') return [credentials]
  const found = [credentials, ...(await checkAccountQuotas(aws, stage))]
  if (hasAlarms(stage))
    found.push(...(await runCheck('account API requests', () => checkApiRequests(aws, stage))))
  for (const { what, place, check } of bootstrapChecks(aws, stage, region)) {
    const made = await make(what, async () => {
      const looked = await check()
      if (looked.state === 'ok') return ok(what, `is there: ${looked.detail}`)
      const { Account: account = '' } = await aws.sts.send(new GetCallerIdentityCommand({}))
      const code = await runCdk(['bootstrap', `aws://${account}/${place}`])
      if (code === 0) return ok(what, 'made')
      return wrong(what, `cdk ended with ${code}`, 'the last lines of its output say what failed')
    })
    found.push(...made)
  }
  if (stage.front !== 'cloudfront') return found
  return [
    ...found,
    ...(await make('origin certificate', () => makeOriginCertificate(aws.acm, stage, root))),
  ]
}

/** A step that failed counts as missing. */
async function make(...[what, run]: Parameters<typeof runCheck>): Promise<readonly Finding[]> {
  return (await runCheck(what, run)).map((found) =>
    found.state === 'unclear' ? { ...found, state: 'wrong' } : found,
  )
}

/** The rare schedules. Their alarms go on without runs, and both may run at any time. */
const RARE = ['sweep-settlements', 'sync-provider-transactions']

/** The last steps of a first deployment, after the manual steps. They may be repeated. Answers the exit code. */
export async function finishStage(stage: string, io: DoctorIo): Promise<number> {
  const terminal = {
    out: (text: string) => console.log(text),
    err: (text: string) => console.error(text),
  }
  const codes: number[] = []
  for (const action of RARE) {
    console.log(`${action}:`)
    codes.push(await runAdmin([action, '--stage', stage], { ...terminal, env: io.env }))
  }
  codes.push(await runDoctor(['--stage', stage], io))
  return codes.find((code) => code !== 0) ?? 0
}
