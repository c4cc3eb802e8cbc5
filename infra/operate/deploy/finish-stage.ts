import { MANIFEST } from '../../../functions/manifest.ts'
import { invokeAction } from '../admin/invoke-action.ts'
import { type Finding, hasWrong, ok, wrong } from '../check/finding.ts'
import { type DoctorIo, runDoctor } from '../doctor/run-doctor.ts'
import { show } from './show.ts'

/** Schedules that run once a day or less. Their alarms count silence, and both may run at any time. */
const RARE = ['sweep-settlements', 'sync-provider-transactions']

const runOnce = async (name: string, stage: string, env: NodeJS.ProcessEnv): Promise<Finding> => {
  const spec = MANIFEST.find((one) => one.name === name)
  if (spec === undefined) throw new Error(`there is no function ${name}`)
  try {
    await invokeAction(spec, { stage, payload: {}, json: true }, env)
    return ok(name, 'has run')
  } catch (error) {
    return wrong(name, error instanceof Error ? error.message : 'failed', 'the doctor below may say why')
  }
}

/** What closes a first deployment, once a person has filled in the rest. Answers the exit code; it may be done again. */
export const finishStage = async (stage: string, io: DoctorIo): Promise<number> => {
  const found: Finding[] = []
  for (const name of RARE) found.push(await runOnce(name, stage, io.env))
  show(found)
  const code = await runDoctor(['--stage', stage], io)
  return hasWrong(found) ? 1 : code
}
