import { GetFunctionConfigurationCommand } from '@aws-sdk/client-lambda'
import { awsClients } from '../../../infra/operate/check/aws-clients.ts'
import { ENV } from '../../../shared/runtime/config.ts'
import { REGION } from '../emulator.ts'
import type { Merchant } from '../merchant.ts'
import { expect, type Rehearsal, STACK } from '../rehearsal.ts'
import { deployRelease, releaseOf } from '../release.ts'

/** A setting of the next release, which no release before it has. */
const RATE_LIMIT = 7

/** A deployment over a stage that is in use: functions change, nothing that is kept does. */
export const updateStage = async (rehearsal: Rehearsal, merchant: Merchant, before: unknown): Promise<void> => {
  const { step } = rehearsal
  const updated = await step(
    'npm run deploy over it, with a release that changes the functions of the API',
    async () => {
      await deployRelease(rehearsal, releaseOf(rehearsal, 'next-release', { clientRateLimit: RATE_LIMIT }))
      const asked = new GetFunctionConfigurationCommand({ FunctionName: `${STACK}-api-create-payment` })
      const { Environment: environment } = await awsClients(REGION).lambda.send(asked)
      const limit = environment?.Variables?.[ENV.clientRateLimit]
      expect(limit === String(RATE_LIMIT), `the function still has the rate limit ${limit}`)
    },
  )
  const goOn = async () => {
    await merchant.create('order-1', 200)
    await merchant.pay(await merchant.create('order-5'))
  }
  await step('it knows the payments from before, and takes another one', goOn, [before])
  return updated
}
