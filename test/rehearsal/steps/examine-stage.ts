import * as v from 'valibot'
import { expect, type Rehearsal, STAGE } from '../rehearsal.ts'

const FindingsSchema = v.array(v.object({ what: v.string(), state: v.string(), detail: v.string() }))

/** The doctor over HTTPS and AWS's own interfaces, drift detection among them. */
export const examineStage = ({ step, npm }: Rehearsal): Promise<void> =>
  step('npm run doctor finds nothing wrong', async () => {
    const { output } = await npm('doctor', ['--stage', STAGE, '--json'], [0, 1, 3])
    const findings = v.parse(FindingsSchema, JSON.parse(output))
    const told = findings.filter(({ state }) => state !== 'ok').map(({ what, detail }) => `${what}: ${detail}`)
    expect(told.length === 0, `the doctor says:\n${told.join('\n')}`)
  })
