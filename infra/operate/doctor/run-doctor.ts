import { readOptions, UsageError } from '../../local/terminal/command-line.ts'
import { onTerminal } from '../../local/terminal/printable.ts'
import { stageTemplate } from '../../stack/stage-template.ts'
import { type AwsClients, awsClients } from '../check/aws-clients.ts'
import { type Finding, hasWrong, renderFindings, type StateWords, wrong } from '../check/finding.ts'
import { regionOf } from '../check/region.ts'
import { stageNamed } from '../check/stage-named.ts'
import { examineStage } from './examine-stage.ts'

const WORDS: StateWords = { ok: 'ok', wrong: 'wrong', unclear: 'could not look' }

export const DOCTOR_HELP = `npm run doctor -- --stage NAME [--json]

Looks at a deployed stage from outside and compares it with what the stack says. Changes nothing; prints no secret.
  --stage NAME   prod, dev, or one of your own
  --json         prints the findings as JSON
  --help, -h     this text
Exit code: 0 nothing is wrong, 1 something is, 2 called wrongly, 3 nothing is wrong but something could not be looked at.`

export type DoctorIo = {
  readonly out: (text: string) => void
  readonly err: (text: string) => void
  readonly env: Readonly<Record<string, string | undefined>>
  readonly connect?: (region: string) => AwsClients
  readonly providerUrl?: string
}

/** The doctor's command line. */
export const runDoctor = async (argv: readonly string[], given: DoctorIo): Promise<0 | 1 | 2 | 3> => {
  const io = onTerminal(given)
  try {
    const { help = false, json = false, stage = '' } = readOptions(argv, OPTIONS)
    if (help) {
      io.out(DOCTOR_HELP)
      return 0
    }
    if (stage === '') throw new UsageError('name the stage with --stage NAME')
    const findings = await examine(stage, io)
    io.out(json ? JSON.stringify(findings, null, 2) : renderFindings(findings, WORDS))
    if (hasWrong(findings)) return 1
    return findings.every(({ state }) => state === 'ok') ? 0 : 3
  } catch (error) {
    if (!(error instanceof UsageError)) throw error
    io.err(`${error.message}\n\n${DOCTOR_HELP}`)
    return 2
  }
}

const OPTIONS = { stage: { type: 'string' }, json: { type: 'boolean' }, help: { type: 'boolean', short: 'h' } } as const

const examine = async (name: string, io: DoctorIo): Promise<readonly Finding[]> => {
  const stage = stageNamed(name)
  const region = await regionOf(io.env)
  if (region === undefined) return [wrong('region', 'none is set', 'set AWS_REGION, or a region in the profile')]
  return examineStage({
    stage,
    template: stageTemplate(stage),
    aws: (io.connect ?? awsClients)(region),
    nowMs: Date.now,
    ...(io.providerUrl !== undefined && { providerUrl: io.providerUrl }),
  })
}
