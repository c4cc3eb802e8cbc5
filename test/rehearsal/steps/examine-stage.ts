import { GetQueueUrlCommand, SendMessageCommand } from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import { awsClients } from '../../../infra/operate/check/aws-clients.ts'
import { REGION } from '../emulator.ts'
import type { Merchant } from '../merchant.ts'
import { expect, type Rehearsal, STACK, STAGE } from '../rehearsal.ts'

const FindingsSchema = v.array(v.object({ what: v.string(), state: v.string(), detail: v.string() }))

/** The doctor over HTTPS and AWS's own interfaces, drift detection among them. */
export const examineStage = ({ step, npm }: Rehearsal): Promise<void> =>
  step('npm run doctor finds nothing wrong', async () => {
    const { output } = await npm('doctor', ['--stage', STAGE, '--json'], [0, 1, 3])
    const findings = v.parse(FindingsSchema, JSON.parse(output))
    const told = findings.filter(({ state }) => state !== 'ok').map(({ what, detail }) => `${what}: ${detail}`)
    expect(told.length === 0, `the doctor says:\n${told.join('\n')}`)
  })

/** What was set aside: counted, looked at, moved back or deleted. */
export const redriveStage = ({ step, npm, cannot }: Rehearsal, { clientId }: Merchant): Promise<void> =>
  step('npm run redrive counts, shows, moves back and deletes what was set aside', async () => {
    await setAside('settlements', { client_id: clientId })
    await setAside('schedules', { requestContext: { requestId: 'rehearsal' } })
    const redrive = (args: readonly string[], codes?: readonly number[]) =>
      npm('redrive', ['--stage', STAGE, ...args], codes)
    const counted = (await redrive([])).output
    expect(/settlements: 1 waiting/.test(counted), `one settlement should wait:\n${counted}`)
    const shown = (await redrive(['--queue', 'settlements', '--peek'])).output
    expect(shown.includes(`client_id=${clientId}`), `the message is not shown:\n${shown}`)
    const { code, errors } = await redrive(['--queue', 'settlements'], [0, 1])
    if (code !== 0) cannot(`npm run redrive cannot move messages back: ${errors.trim()}`)
    await redrive(['--queue', 'schedules', '--purge-confirmed'])
    const left = (await redrive(['--queue', 'schedules', '--peek'])).output
    expect(/schedules: 0 waiting/.test(left), `nothing should wait any more:\n${left}`)
  })

const setAside = async (name: string, body: object): Promise<void> => {
  const { sqs } = awsClients(REGION)
  const { QueueUrl } = await sqs.send(new GetQueueUrlCommand({ QueueName: `${STACK}-${name}-dead` }))
  await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody: JSON.stringify(body) }))
}
