import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readOptions, runProgram, UsageError } from '../../infra/local/terminal/command-line.ts'
import { certificatesIn, makeCertificates } from './certificates.ts'
import { hireDutyHolders } from './duty-holders.ts'
import {
  EMULATOR_LOG,
  installMinistack,
  MINISTACK,
  REGION,
  rehearsalClock,
  startEmulator,
  toolEnvironment,
  VERDICTS,
} from './emulator.ts'
import { judgementOn, printReport } from './judgement.ts'
import { takeOnMerchant } from './merchant.ts'
import { furnishNamespace, runInNamespace } from './namespace.ts'
import { type Rehearsal, startRehearsal } from './rehearsal.ts'
import { firstRelease } from './release.ts'
import { deployStage } from './steps/deploy-stage.ts'
import { destroyStage, loseRegion, OTHER_REGION } from './steps/lose-region.ts'
import { examineStage, lookUp, operateStage, wakeHelpers } from './steps/operate-stage.ts'
import { refuseStrangers } from './steps/refuse-strangers.ts'
import { restoreStage } from './steps/restore-stage.ts'
import { endRotation, rotateSecrets } from './steps/rotate-secrets.ts'
import { payOut, takePayments } from './steps/take-payments.ts'
import { refuseRelease, rollBackUpdate, updateStage } from './steps/update-stage.ts'
import { readVerdicts } from './verdicts.ts'
import { CERTIFIED, startWorld } from './world.ts'

/** The deployment and the merchant always run. */
const PARTS = [
  'take-payments',
  'pay-out',
  'operate-stage',
  'examine-stage',
  'rotate-secrets',
  'update-stage',
  'refuse-release',
  'roll-back-update',
  'restore-stage',
  'refuse-strangers',
  'lose-region',
  'destroy-stage',
] as const
type Part = (typeof PARTS)[number]

const USAGE = `npm run rehearse [-- --keep] [--only PART,PART…]

Deploys a stage with the settings of prod by the real \`npm run deploy\` to MiniStack ${MINISTACK}, an emulator of AWS,
walks payments through it over HTTPS, does what operators do, updates the stack, restores it, destroys it, and judges
every call of every function by the policy of its role. It takes some minutes. It prints its steps, and what the
emulator cannot do.
Needs Linux on x86-64 with network namespaces of its own (root, or unprivileged user namespaces), Python 3.10 or newer,
openssl and, the first time, PyPI: the emulator is installed into a virtual environment in the system's temporary
directory. Nothing leaves the namespace.
  --keep       keeps the directory with logs and verdicts, and prints its path
  --only       the first deployment, a merchant, and these parts alone: ${PARTS.join(', ')}
  --help, -h   this text
Exit code: 0 all steps passed, 1 one did not, 2 wrong arguments.`

/**
 * The variable with the directory. It is set where the program runs a second time, inside the
 * namespaces.
 */
const INSIDE = 'REHEARSAL_DIRECTORY'

await runProgram(USAGE, async (argv) => {
  const { keep = false, only } = readOptions(argv, {
    keep: { type: 'boolean' },
    only: { type: 'string' },
  })
  const named = only?.split(',') ?? []
  const unknown = named.filter((name) => !PARTS.some((part) => part === name))
  if (unknown.length > 0) throw new UsageError(`there is no part ${unknown.join(', ')}`)
  const directory = process.env[INSIDE]
  const chosen = PARTS.filter((part) => named.includes(part))
  return directory === undefined ? outside(keep, argv) : rehearse(directory, chosen)
})

async function outside(keep: boolean, argv: readonly string[]) {
  const directory = mkdtempSync(join(tmpdir(), 'gateway-rehearsal-'))
  try {
    await installMinistack()
    const { certificate } = await makeCertificates(directory, CERTIFIED)
    const env = { ...process.env, [INSIDE]: directory, NODE_EXTRA_CA_CERTS: certificate }
    const code = await runInNamespace(process.execPath, [import.meta.filename, ...argv], env)
    if (code !== undefined) return code
    console.error(
      'This machine makes no namespaces for us: run it as root, or allow unprivileged user ' +
        'namespaces.',
    )
    return 1
  } finally {
    if (keep) console.log(`Logs and verdicts: ${directory}`)
    else rmSync(directory, { recursive: true, force: true })
  }
}

async function rehearse(directory: string, only: readonly Part[]) {
  const certificates = certificatesIn(directory)
  await furnishNamespace(directory)
  const clock = await rehearsalClock(directory)
  const env = toolEnvironment(certificates, clock)
  // This process uses the clock of the machine. The SDK corrects its signatures to the time of the
  // emulator.
  for (const name of ['ENDPOINT_URL', 'REGION', 'ACCESS_KEY_ID', 'SECRET_ACCESS_KEY'])
    process.env[`AWS_${name}`] = env[`AWS_${name}`]
  await using started = new AsyncDisposableStack()
  const world = await startWorld(certificates)
  started.defer(() => world.close())
  const emulator = await startEmulator(directory, certificates, clock)
  started.defer(() => emulator.close())
  let envOf = (_action: string) => ({})
  const verdicts = () => readVerdicts(join(directory, VERDICTS))
  const rehearsal = startRehearsal({
    directory,
    env,
    clock,
    world,
    verdicts,
    release: firstRelease(directory),
    log: () => readFileSync(join(directory, EMULATOR_LOG), 'utf8'),
    envOf: (action) => envOf(action),
  })
  try {
    const apiUrl = await deployStage(rehearsal)
    envOf = await rehearsal.step('a person is given the policy of each duty', hireDutyHolders)
    const judged = await live(rehearsal, apiUrl, only)
    const isWell = printReport(
      only.length > 0 ? { ...judged, silent: [] } : judged,
      rehearsal.limits(),
    )
    for (const failure of rehearsal.failures()) console.log(failure)
    return isWell && rehearsal.failures().length === 0 ? 0 : 1
  } catch (error) {
    console.error(
      `\nThe rehearsal broke off: ${error instanceof Error ? error.message : String(error)}`,
    )
    printReport({ ...judgementOn(rehearsal.verdicts()), silent: [] }, rehearsal.limits())
    return 1
  }
}

/** A part that fails or is left out stops only the parts that need it. */
async function live(rehearsal: Rehearsal, apiUrl: string, only: readonly Part[]) {
  const { step, verdicts } = rehearsal
  const part: typeof rehearsal.part = async (what, needs, run) =>
    only.length > 0 && !only.some((name) => name === what)
      ? undefined
      : rehearsal.part(what, needs, run)
  const merchant = await step('operators take a merchant on', () =>
    takeOnMerchant(rehearsal, apiUrl, 'Warung Satu'),
  )
  const payments = await part('take-payments', [], () => takePayments(rehearsal, merchant))
  const paidOut = await part('pay-out', [payments], (taken) => payOut(rehearsal, merchant, taken))
  await part('operate-stage', [payments, paidOut], async (taken, settlement) => {
    const done = { merchant, payments: taken, settlement }
    await lookUp(rehearsal, done, apiUrl)
    await operateStage(rehearsal, done)
    await wakeHelpers(rehearsal)
  })
  await part('examine-stage', [], () => examineStage(rehearsal))
  const rotated = await part('rotate-secrets', [], () => rotateSecrets(rehearsal, merchant, apiUrl))
  const updated = await part('update-stage', [payments], () => updateStage(rehearsal, merchant))
  await part('rotate-secrets', [rotated, updated], () => endRotation(rehearsal, merchant, apiUrl))
  const beforeBroken = verdicts().length
  await part('refuse-release', [], () => refuseRelease(rehearsal, merchant))
  const afterBroken = verdicts().length
  await part('roll-back-update', [], () => rollBackUpdate(rehearsal, merchant))
  const restored = await part('restore-stage', [payments], ({ paid }) =>
    restoreStage(rehearsal, merchant, paid),
  )
  // One broken release lacks a permission: what is denied to it is no failure.
  const before = verdicts().filter(
    ({ denied }, at) => denied === null || at < beforeBroken || at >= afterBroken,
  )
  await part('refuse-strangers', [restored], () => refuseStrangers(rehearsal))
  const refused = verdicts().length
  await part('lose-region', [payments, restored], ({ paid }) =>
    loseRegion(rehearsal, merchant, paid),
  )
  // Verdicts on the lost region no longer count: the roles of the new stack have taken the names of
  // its roles.
  const elsewhere = verdicts()
    .slice(refused)
    .filter(({ resource }) => resource.includes(`:${OTHER_REGION}:`))
  const judged = judgementOn([...before, ...elsewhere])
  await part('lose-region', [], () => destroyStage(rehearsal, OTHER_REGION))
  await part('destroy-stage', [], () => destroyStage(rehearsal, REGION))
  return judged
}
