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
import { makePipelineRole, pipelineRoleOf } from '../check/pipeline-role.ts'
import { type DoctorIo, runDoctor } from '../doctor/run-doctor.ts'
import { makeOriginCertificate } from './make-origin-certificate.ts'

type InitInput = {
  readonly stage: DeployedStage
  readonly region: string
  readonly root: string
  readonly repository?: string | undefined
  readonly runCdk: (args: readonly string[]) => Promise<number>
}

/**
 * Makes what a stage needs and its template cannot make. Lists the account's quotas first, because
 * AWS takes days for requests. Keeps what is right. A failed step stops no other step. Safe
 * to repeat.
 */
export async function initStage({
  stage,
  region,
  root,
  repository,
  runCdk,
}: InitInput): Promise<readonly Finding[]> {
  const aws = awsClients(region)
  const credentials = await checkCredentials(aws.sts, region, stage)
  if (credentials.state !== 'ok') return [credentials]
  const { Account: account = '' } = await aws.sts.send(new GetCallerIdentityCommand({}))
  const findings = [credentials, ...(await checkAccountQuotas(aws, stage))]
  if (hasAlarms(stage))
    findings.push(...(await runCheck('account API requests', () => checkApiRequests(aws, stage))))
  for (const { what, place, check } of bootstrapChecks(aws, stage, region)) {
    const results = await runStep(what, async () => {
      const finding = await check()
      if (finding.state === 'ok') return ok(what, `is there: ${finding.detail}`)
      const code = await runCdk(['bootstrap', `aws://${account}/${place}`])
      if (code === 0) return ok(what, 'made')
      return wrong(what, `cdk ended with ${code}`, 'the last lines of its output say what failed')
    })
    findings.push(...results)
  }
  if (repository !== undefined) {
    const { name } = stage.settings
    const make = () => makePipelineRole(aws.iam, { stage: name, account, repository })
    findings.push(...(await runStep(`role ${pipelineRoleOf(name)}`, make)))
  }
  if (stage.front !== 'cloudfront') return findings
  return [
    ...findings,
    ...(await runStep('origin certificate', () => makeOriginCertificate(aws.acm, stage, root))),
  ]
}

async function runStep(...[what, run]: Parameters<typeof runCheck>): Promise<readonly Finding[]> {
  return (await runCheck(what, run)).map((finding) =>
    finding.state === 'unclear' ? { ...finding, state: 'wrong' } : finding,
  )
}

/** Without a run the alarms of these schedules are on. All may run at any time. */
const RARE_SCHEDULES = ['sweep-settlements', 'sync-provider-transactions', 'audit-clients']

/**
 * The steps after the manual steps of a first deployment. Safe to repeat. Answers the exit code.
 */
export async function finishStage(stage: string, io: DoctorIo) {
  const output = { out: console.log, err: console.error, env: io.env }
  const codes: number[] = []
  for (const action of RARE_SCHEDULES) {
    console.log(`${action}:`)
    codes.push(await runAdmin([action, '--stage', stage], output))
  }
  codes.push(await runDoctor(['--stage', stage], io))
  return codes.find((code) => code !== 0) ?? 0
}
