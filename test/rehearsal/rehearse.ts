import { join } from 'node:path'
import { hireDutyHolders } from './duty-holders.ts'
import { REGION, rehearsalClock, startEmulator, toolEnvironment } from './emulator.ts'
import { judgementOn } from './judgement.ts'
import { takeOnMerchant } from './merchant.ts'
import { furnishNamespace } from './namespace.ts'
import { printReport } from './print-report.ts'
import { type Rehearsal, startRehearsal } from './rehearsal.ts'
import { deployStage } from './steps/deploy-stage.ts'
import { destroyStage } from './steps/destroy-stage.ts'
import { examineStage, redriveStage } from './steps/examine-stage.ts'
import { loseRegion, OTHER_REGION } from './steps/lose-region.ts'
import { lookUp, operateStage, wakeHelpers } from './steps/operate-stage.ts'
import { payOut } from './steps/pay-out.ts'
import { refuseRelease } from './steps/refuse-release.ts'
import { refuseStrangers } from './steps/refuse-strangers.ts'
import { restoreStage } from './steps/restore-stage.ts'
import { takePayments } from './steps/take-payments.ts'
import { updateStage } from './steps/update-stage.ts'
import { startWorld } from './world.ts'

const SDK_SETTINGS = ['AWS_ENDPOINT_URL', 'AWS_REGION', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY']

/** Inside the namespaces: the whole life of a stage. Answers the exit code. */
export const rehearse = async (directory: string): Promise<number> => {
  const at = (file: string) => join(directory, file)
  const certificates = { authority: at('ca.pem'), certificate: at('world.pem'), key: at('world.key') }
  await furnishNamespace(directory)
  const clock = await rehearsalClock(directory)
  const env = toolEnvironment(certificates, clock)
  // This process asks by the clock of the machine; the SDK corrects what it signs where AWS has another.
  for (const name of SDK_SETTINGS) process.env[name] = env[name]
  await using started = new AsyncDisposableStack()
  const world = await startWorld(certificates)
  started.defer(() => world.close())
  const emulator = await startEmulator({ directory, certificates, clock })
  started.defer(() => emulator.close())
  let envOf = (_action: string): NodeJS.ProcessEnv => ({})
  const rehearsal = startRehearsal({ directory, env, clock, world, envOf: (action) => envOf(action) })
  try {
    const { apiUrl } = await deployStage(rehearsal)
    envOf = await hireDutyHolders()
    return await live(rehearsal, apiUrl)
  } catch (error) {
    console.error(`\nThe rehearsal broke off: ${error instanceof Error ? error.message : String(error)}`)
    printReport(judgementOn(rehearsal.verdicts()), rehearsal.limits())
    return 1
  }
}

const live = async (rehearsal: Rehearsal, apiUrl: string): Promise<number> => {
  const { step, verdicts } = rehearsal
  const merchant = await step('operators take a merchant on', () => takeOnMerchant(rehearsal, apiUrl, 'Warung Satu'))
  const payments = await takePayments(rehearsal, merchant)
  const { settlement } = await payOut(rehearsal, merchant, payments)
  await lookUp(rehearsal, { merchant, payments, settlement }, apiUrl)
  await operateStage(rehearsal, { merchant, payments, settlement })
  await wakeHelpers(rehearsal)
  await examineStage(rehearsal)
  await redriveStage(rehearsal, merchant)
  await updateStage(rehearsal, merchant)
  await refuseRelease(rehearsal, merchant)
  await restoreStage(rehearsal, merchant, payments.paid)
  const before = verdicts()
  await refuseStrangers(rehearsal)
  const refused = verdicts().length
  await loseRegion(rehearsal, merchant, payments.paid)
  // Of the region that is lost nothing counts any more: the new stack's roles have taken the names of its roles.
  const elsewhere = verdicts()
    .slice(refused)
    .filter(({ resource }) => resource.includes(`:${OTHER_REGION}:`))
  const judged = judgementOn([...before, ...elsewhere])
  for (const region of [OTHER_REGION, REGION]) await destroyStage(rehearsal, region)
  return printReport(judged, rehearsal.limits()) ? 0 : 1
}
