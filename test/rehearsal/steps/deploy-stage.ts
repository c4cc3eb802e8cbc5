import { PutSecretValueCommand } from '@aws-sdk/client-secrets-manager'
import { awsClients } from '../../../infra/operate/check/aws-clients.ts'
import { describedStack, outputOf } from '../../../infra/operate/check/described-stack.ts'
import { callbackSecretName, providerSecretName } from '../../../shared/secrets.ts'
import { ACCOUNT, REGION } from '../emulator.ts'
import { type Rehearsal, STACK, STAGE } from '../rehearsal.ts'
import { runTool } from '../run-tool.ts'

export type DeployedGateway = { readonly apiUrl: string }

/** From an empty account to a stage that can take payments: docs/operations.md, section 1. */
export const deployStage = async (rehearsal: Rehearsal): Promise<DeployedGateway> => {
  const { env, npm, step } = rehearsal
  await step('npx cdk bootstrap', async () => {
    const { code, errors } = await runTool('npx', ['cdk', 'bootstrap', `aws://${ACCOUNT}/${REGION}`], { env })
    if (code !== 0) throw new Error(`cdk bootstrap: ${errors.slice(-2_000)}`)
  })
  await step('npm run deploy -- --check finds nothing missing', () => npm('deploy', ['--stage', STAGE, '--check']))
  await step('npm run deploy, the first time', () => npm('deploy', ['--stage', STAGE, '--require-approval', 'never']))
  return step('the provider’s key and callback token are filled in', async () => ({
    apiUrl: await connectProvider(rehearsal, REGION),
  }))
}

/** The provider's secrets of the stage there, and where the provider calls back: steps that no deployment can take. */
export const connectProvider = async ({ world }: Rehearsal, region: string): Promise<string> => {
  const aws = awsClients(region)
  const secrets = [
    [providerSecretName(STAGE), world.secrets.provider],
    [callbackSecretName(STAGE), world.secrets.callback],
  ] as const
  for (const [SecretId, value] of secrets) {
    const SecretString = JSON.stringify(value)
    await aws.secretsManager.send(new PutSecretValueCommand({ SecretId, SecretString }))
  }
  const stack = await describedStack(aws.cloudFormation, STACK)
  const apiUrl = stack && outputOf(stack, 'ApiUrl')
  if (apiUrl === undefined) throw new Error('the stack has no output ApiUrl')
  world.callBack(apiUrl)
  return apiUrl
}
