import { parseArgs } from 'node:util'
import { type AwsClients, awsClients, regionOf } from '../check/aws-clients.ts'
import { type Finding, hasWrong, renderFindings, type StateWords, wrong } from '../check/finding.ts'
import { stageNamed } from '../deploy/check-stage.ts'
import { stageTemplate } from '../stage-template.ts'
import { examineStage } from './examine-stage.ts'

const WORDS: StateWords = { ok: 'ok', wrong: 'wrong', unclear: 'could not look' }

export const DOCTOR_HELP = `npm run doctor -- --stage NAME [--json]

Looks at a deployed stage from outside and compares it with what the stack says. Changes nothing; prints no secret.
Exit code: 0 nothing is wrong, 1 something is, 2 called wrongly. "could not look" is not wrong by itself.`

export type DoctorIo = {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  readonly connect?: (region: string) => AwsClients
  readonly providerUrl?: string
}

/** The doctor's command line. */
export const runDoctor = async (argv: readonly string[], io: DoctorIo): Promise<0 | 1 | 2> => {
  const command = parse(argv)
  if (command === undefined || command.help) {
    if (command) io.out(DOCTOR_HELP)
    else io.err(DOCTOR_HELP)
    return command ? 0 : 2
  }
  const findings = await examine(command.stage, io)
  io.out(command.json ? JSON.stringify(findings, null, 2) : renderFindings(findings, WORDS))
  // Findings of which none is ok: nothing could be looked at, which is no clean bill.
  return hasWrong(findings) || findings.every(({ state }) => state !== 'ok') ? 1 : 0
}

const parse = (argv: readonly string[]) => {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: { stage: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean' } },
    })
    const { stage = '', json = false, help = false } = values
    return stage === '' && !help ? undefined : { stage, json, help }
  } catch {
    return undefined
  }
}

const examine = async (name: string, io: DoctorIo): Promise<readonly Finding[]> => {
  const named = stageNamed(name)
  if (named.stage === undefined) return [named.finding]
  const region = await regionOf(io.env)
  if (region === undefined) return [wrong('region', 'none is set', 'set AWS_REGION, or a region in the profile')]
  return examineStage({
    stage: named.stage,
    template: stageTemplate(named.stage),
    aws: (io.connect ?? awsClients)(region),
    nowMs: Date.now,
    ...(io.providerUrl !== undefined && { providerUrl: io.providerUrl }),
  })
}
