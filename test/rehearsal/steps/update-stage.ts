import { GetFunctionConfigurationCommand } from '@aws-sdk/client-lambda'
import * as v from 'valibot'
import { functionName } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { awsClients, describeStack } from '../../../infra/operate/check/aws-clients.ts'
import { ENV, SettingsText } from '../../../shared/runtime/config.ts'
import { REGION } from '../emulator.ts'
import type { Merchant } from '../merchant.ts'
import { expect, type Rehearsal, STACK, STAGE } from '../rehearsal.ts'
import { releaseOf, releaseWith } from '../release.ts'
import { inTraffic } from '../traffic.ts'

/** A setting of the next release, which the present release lacks. */
const PAYER = { returnUrl: 'https://example.com/', name: 'Next release' }

/** Functions change, and stored data does not. */
export async function updateStage(rehearsal: Rehearsal, merchant: Merchant) {
  const { step } = rehearsal
  await step('npm run deploy over it, with a release that changes functions', async () => {
    await rehearsal.deploy(releaseOf(rehearsal, 'next-release', { payer: PAYER }))
    const asked = new GetFunctionConfigurationCommand({
      FunctionName: `${STACK}-api-create-payment`,
    })
    const { Environment: environment } = await awsClients(REGION).lambda.send(asked)
    const name = v.parse(SettingsText, environment?.Variables?.[ENV.settings]).defaultDisplayName
    expect(name === PAYER.name, `the function still has the payer's name ${name}`)
  })
  const goOn = async () => {
    await merchant.create('order-1', 200)
    await merchant.pay(await merchant.create('order-5'))
  }
  await step('it knows the payments from before, and takes another one', goOn)
  return true
}

const FAILS = { codes: [1] }

export const BREAKS = [
  {
    what: 'whose worker throws at load',
    file: 'functions/queue/deliver-webhook.ts',
    change: (text: string) => `${text}\nthrow new Error('broken on purpose')\n`,
  },
  {
    what: 'whose configuration is wrong',
    file: 'infra/stack/functions/environment.ts',
    change: (text: string) =>
      text.replace('[ENV.stage]: stage.settings.name', "[ENV.stage]: 'Not A Stage'"),
  },
  {
    what: 'whose API may not read clients',
    file: 'functions/api-functions.ts',
    change: (text: string) =>
      text.replace("BatchGetFields: ['APIKEY', 'CLIENT']", "BatchGetFields: ['APIKEY']"),
  },
]

export async function refuseRelease(rehearsal: Rehearsal, merchant: Merchant) {
  const { step } = rehearsal
  for (const [at, one] of BREAKS.entries()) {
    await step(`npm run deploy refuses a release ${one.what}`, async () => {
      const cwd = releaseWith(rehearsal, `broken-release-${at}`, one.file, one.change)
      const { output, errors } = await rehearsal.deploy(cwd, FAILS)
      expect(
        `${output}${errors}`.includes('ReleaseProof'),
        `it failed elsewhere:\n${errors.slice(-2_000)}`,
      )
    }).catch(() => undefined)
  }
  await step('the present release goes on', async () => {
    await merchant.pay(await merchant.create('order-after-refusal'))
  })
}

/**
 * The broken worker shows only after all functions have changed. The rollback restores all of them.
 */
export async function rollBackUpdate(rehearsal: Rehearsal, merchant: Merchant) {
  const { step } = rehearsal
  await step(
    'an update fails and is rolled back, in mid-traffic: no create and no webhook fails',
    async () => {
      const before = await deployedNow()
      const broken = 'functions/queue/settle-client.ts'
      const cwd = releaseWith(
        rehearsal,
        'rolled-back-release',
        broken,
        (text) => `${text}\nthrow new Error('broken')\n`,
      )
      await inTraffic(rehearsal, merchant, 'rollback', () => rehearsal.deploy(cwd, FAILS))
      const { StackStatus: status } =
        (await describeStack(awsClients(REGION).cloudFormation, STACK)) ?? {}
      expect(status === 'UPDATE_ROLLBACK_COMPLETE', `the stack is ${status}`)
      expect((await deployedNow()) === before, 'a function is not what it was before the update')
    },
  )
}

async function deployedNow() {
  const { lambda } = awsClients(REGION)
  const lines: string[] = []
  for (const spec of MANIFEST) {
    const asked = new GetFunctionConfigurationCommand({ FunctionName: functionName(STAGE, spec) })
    const {
      CodeSha256: code,
      LoggingConfig: logging,
      MemorySize: memory,
    } = await lambda.send(asked)
    lines.push(`${spec.name} ${code} ${logging?.ApplicationLogLevel} ${memory}`)
  }
  return lines.join('\n')
}
