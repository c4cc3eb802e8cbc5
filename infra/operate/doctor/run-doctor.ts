import { readOptions, runCommand } from '../../local/terminal/command-line.ts'
import { printableLines } from '../../local/terminal/printable.ts'
import { awsClients } from '../check/aws-clients.ts'
import { checkCredentials } from '../check/check-account.ts'
import { forStage, hasWrong, renderFindings } from '../check/finding.ts'
import { regionOf } from '../check/region-of.ts'
import { stageNamed } from '../check/stage-named.ts'
import type { Waiting } from './check-stack.ts'
import { examineStage } from './examine-stage.ts'

const USAGE = `npm run doctor -- --stage NAME [--json]

Checks a deployed stage from outside: whether it works, and whether a person changed it since the deployment
(CloudFormation's drift detection). It takes some minutes, changes nothing and prints no secret.
  --stage NAME   prod, dev, or your own stage
  --json         prints the findings as JSON
  --help, -h     this text
Exit code: 0 nothing is wrong, 1 something is wrong, 2 wrong arguments, 3 nothing is wrong but a check was not possible.`

const OPTIONS = { stage: { type: 'string' }, json: { type: 'boolean' } } as const

export type DoctorIo = Waiting & { readonly env: NodeJS.ProcessEnv; readonly providerUrl?: string }

export function runDoctor(argv: readonly string[], { env, ...io }: DoctorIo) {
  return runCommand(USAGE, argv, async () => {
    const { json, stage: name } = readOptions(argv, OPTIONS)
    const stage = stageNamed(name)
    const region = await regionOf(env)
    const aws = awsClients(region)
    const credentials = await checkCredentials(aws.sts, region, stage)
    const found = credentials.state === 'ok' ? await examineStage({ stage, aws, ...io }) : []
    const findings = forStage([credentials, ...found], stage.settings.name)
    const words = { ok: 'ok', wrong: 'wrong', unclear: 'could not look' }
    console.log(
      printableLines(json ? JSON.stringify(findings, null, 2) : renderFindings(findings, words)),
    )
    if (hasWrong(findings)) return 1
    return findings.every(({ state }) => state === 'ok') ? 0 : 3
  })
}
