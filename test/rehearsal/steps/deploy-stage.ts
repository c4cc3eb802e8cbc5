import { paginateListStackResources } from '@aws-sdk/client-cloudformation'
import { GetAccountSettingsCommand } from '@aws-sdk/client-lambda'
import { PutSecretValueCommand } from '@aws-sdk/client-secrets-manager'
import { awsClients, describeStack, outputOf } from '../../../infra/operate/check/aws-clients.ts'
import { callbackSecretName, providerSecretName } from '../../../shared/secrets.ts'
import { REGION } from '../emulator.ts'
import { expect, type Rehearsal, STACK, STAGE } from '../rehearsal.ts'

/** From an empty account to a stage that can take payments: docs/operations.md, section 1. */
export async function deployStage(rehearsal: Rehearsal) {
  const { npm, step } = rehearsal
  const init = () => initOnce(rehearsal)
  await step('npm run deploy -- --check misses the bootstrap alone', async () => {
    const { output } = await npm(['deploy', '--check'], { codes: [1] })
    const missing = [...output.matchAll(/^missing +(.+?):/gm)].map(([, what]) => what).join()
    expect(missing === `CDK bootstrap in ${REGION}`, `the preflight says:\n${output}`)
  })
  await step('npm run deploy -- --init, from an empty account', async () => {
    const { output } = await init()
    expect(
      output.includes(`CDK bootstrap in ${REGION}: made`),
      `it does not say what it made:\n${output}`,
    )
    expect(output.includes('Manual steps'), `it does not say what is left:\n${output}`)
  })
  await step('it has what `prod` has', hasAllOfProd).catch(() => undefined)
  const connect = () => connectProvider(rehearsal, REGION)
  const apiUrl = await step('the provider’s key and callback token are filled in', connect)
  await step(
    'npm run deploy -- --init again: all is there, the rare schedules run, the doctor finds ' +
      'nothing wrong',
    async () => {
      const { output } = await init()
      expect(
        output.includes(`CDK bootstrap in ${REGION}: is there`),
        `it makes what is there:\n${output}`,
      )
      expect(/^sync-provider-transactions:$/m.test(output), `no schedule has run:\n${output}`)
    },
  ).catch(() => undefined)
  return apiUrl
}

/** A busy machine answers a check too late. The tool then says to try again. */
function initOnce({ npm, eventually }: Rehearsal) {
  const words = ['deploy', '--init', '--require-approval', 'never']
  return eventually('an answer in time', async () => {
    const ran = await npm(words, { codes: [0, 1] })
    if (ran.code === 0) return ran
    if (/: TimeoutError/.test(ran.output)) return undefined
    throw new Error(`npm run ${words.join(' ')} ended with 1:\n${ran.output}\n${ran.errors}`)
  })
}

const OF_PROD = {
  data: ['KMS::Key', 'Events::Rule'],
  operators: ['CloudTrail::Trail'],
  watch: ['CloudWatch::Alarm', 'CloudWatch::CompositeAlarm'],
}

/** What `dev` lacks. The aliases are proven by the release itself. */
async function hasAllOfProd() {
  const { cloudFormation: client, lambda } = awsClients(REGION)
  for (const [part, types] of Object.entries(OF_PROD)) {
    const made = new Set<string | undefined>()
    for await (const { StackResourceSummaries: resources = [] } of paginateListStackResources(
      { client, stopOnSameToken: true },
      { StackName: `${STACK}-${part}` },
    ))
      for (const { ResourceType: type } of resources) made.add(type)
    const missing = types.filter((type) => !made.has(`AWS::${type}`))
    expect(missing.length === 0, `${STACK}-${part} has no ${missing.join(', ')}`)
  }
  const { AccountLimit: limit } = await lambda.send(new GetAccountSettingsCommand({}))
  expect(
    (limit?.UnreservedConcurrentExecutions ?? 0) < (limit?.ConcurrentExecutions ?? 0),
    'no runs are reserved',
  )
}

/** Fills the provider's secrets and sets its callback URL, which no deployment can do. */
export async function connectProvider({ world }: Rehearsal, region: string) {
  const { keys, token } = world.dashboard
  await putSecrets(region, keys[0] ?? '', [token])
  const stack = await describeStack(awsClients(region).cloudFormation, STACK)
  const apiUrl = stack && outputOf(stack, 'ApiUrl')
  if (apiUrl === undefined) throw new Error('the stack has no output ApiUrl')
  world.callBack(apiUrl)
  return apiUrl
}

export async function putSecrets(region: string, key: string, tokens: readonly string[]) {
  const { secretsManager } = awsClients(region)
  const secrets = {
    [providerSecretName(STAGE)]: { secret_key: key },
    [callbackSecretName(STAGE)]: { callback_tokens: tokens },
  }
  for (const [SecretId, value] of Object.entries(secrets)) {
    await secretsManager.send(
      new PutSecretValueCommand({ SecretId, SecretString: JSON.stringify(value) }),
    )
  }
}
