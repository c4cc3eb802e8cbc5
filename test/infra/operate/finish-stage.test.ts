import { InvokeCommand } from '@aws-sdk/client-lambda'
import { expect, it, vi } from 'vitest'
import { finishStage } from '../../../infra/operate/deploy/init-stage.ts'
import { lambdaAnswer } from '../../support/lambda-answer.ts'
import { examinedStage } from './examined-stage.ts'

const finish = async () => {
  const { aws, io } = await examinedStage('dev')
  const printed = vi.spyOn(console, 'log').mockImplementation(() => undefined)
  const run = async () => ({
    code: await finishStage('dev', { env: { AWS_REGION: 'ap-southeast-3' }, ...io }),
    text: printed.mock.calls.join('\n'),
  })
  return { aws, run }
}

it('runs the rare schedules, and then asks the doctor, who finds nothing wrong', async () => {
  const { aws, run } = await finish()

  const { code, text } = await run()

  const asked = aws.lambda.commandCalls(InvokeCommand).map(({ args: [{ input }] }) => input.FunctionName)
  expect(asked.slice(0, 2)).toStrictEqual(['gateway-dev-sweep-settlements', 'gateway-dev-sync-provider-transactions'])
  expect(text).toMatch(
    /^sweep-settlements:\nproblems +none\nsync-provider-transactions:\nproblems +none\nok +data stack/,
  )
  expect(text).toContain('provider key')
  expect(code).toBe(0)
})

it('fails when a schedule does, and asks the doctor all the same', async () => {
  const { aws, run } = await finish()
  aws.lambda
    .on(InvokeCommand, { FunctionName: 'gateway-dev-sync-provider-transactions' })
    .resolves({ ...lambdaAnswer({ errorMessage: 'no key' }), FunctionError: 'Unhandled' })

  const refused = vi.spyOn(console, 'error').mockImplementation(() => undefined)

  const { code, text } = await run()

  expect(refused).toHaveBeenCalledWith(expect.stringContaining('gateway-dev-sync-provider-transactions failed: '))
  expect(text).toContain('provider key')
  expect(code).toBe(1)
})
