import { GetFunctionConfigurationCommand } from '@aws-sdk/client-lambda'
import { awsClients } from '../../../infra/operate/check/aws-clients.ts'
import { REGION } from '../emulator.ts'
import type { Merchant } from '../merchant.ts'
import { expect, type Rehearsal, STACK } from '../rehearsal.ts'
import { deployRelease, releaseOf } from '../release.ts'

/** A deployment over a stage that is in use: every function changes, nothing that is kept does. */
export const updateStage = async (rehearsal: Rehearsal, merchant: Merchant, before: unknown): Promise<void> => {
  const { step } = rehearsal
  const updated = await step('npm run deploy over it, with a release that changes every function', async () => {
    await deployRelease(rehearsal, releaseOf(rehearsal, 'next-release', { logLevel: 'DEBUG' }))
    const asked = new GetFunctionConfigurationCommand({ FunctionName: `${STACK}-api-create-payment` })
    const { LoggingConfig: logging } = await awsClients(REGION).lambda.send(asked)
    expect(logging?.ApplicationLogLevel === 'DEBUG', `the function still has log level ${logging?.ApplicationLogLevel}`)
  })
  const goOn = async () => {
    await merchant.create('order-1', 200)
    await merchant.pay(await merchant.create('order-5'))
  }
  await step('it knows the payments from before, and takes another one', goOn, [before])
  return updated
}
