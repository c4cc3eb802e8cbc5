import { runAdmin } from '../admin/run-admin.ts'
import { type DoctorIo, runDoctor } from '../doctor/run-doctor.ts'

/** Schedules that run once a day or less. Their alarms count silence, and both may run at any time. */
const RARE = ['sweep-settlements', 'sync-provider-transactions']

/** What closes a first deployment, once a person has filled in the rest. It may be done again. Answers the exit code. */
export const finishStage = async (stage: string, io: DoctorIo): Promise<number> => {
  const terminal = { out: (text: string) => console.log(text), err: (text: string) => console.error(text) }
  const codes: number[] = []
  for (const action of RARE) {
    console.log(`${action}:`)
    codes.push(await runAdmin([action, '--stage', stage], { ...terminal, env: io.env }))
  }
  codes.push(await runDoctor(['--stage', stage], io))
  return codes.find((code) => code !== 0) ?? 0
}
