import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { GetFunctionConfigurationCommand } from '@aws-sdk/client-lambda'
import * as v from 'valibot'
import { awsClients } from '../../../infra/operate/check/aws-clients.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'
import { REGION } from '../emulator.ts'
import type { Merchant } from '../merchant.ts'
import { expect, type Rehearsal, STACK, STAGE } from '../rehearsal.ts'
import { runTool } from '../run-tool.ts'

const COPIED = ['functions', 'infra', 'shared', 'cdk.json', 'package.json', 'package-lock.json', 'tsconfig.json']

/** The project with another setting, which every function has: a release that changes all of them. */
const nextRelease = (directory: string): string => {
  const next = join(directory, 'next-release')
  mkdirSync(next)
  for (const name of COPIED) cpSync(join(PROJECT_ROOT, name), join(next, name), { recursive: true })
  symlinkSync(join(PROJECT_ROOT, 'node_modules'), join(next, 'node_modules'))
  const file = join(next, `infra/stages/${STAGE}.json`)
  const settings = v.parse(v.looseObject({ logLevel: v.literal('INFO') }), JSON.parse(readFileSync(file, 'utf8')))
  writeFileSync(file, JSON.stringify({ ...settings, logLevel: 'DEBUG' }))
  return next
}

/** A deployment over a stage that is in use: every function changes, nothing that is kept does. */
export const updateStage = async ({ directory, env, step }: Rehearsal, merchant: Merchant): Promise<void> => {
  await step('npm run deploy over it, with a release that changes every function', async () => {
    const args = ['run', '-s', 'deploy', '--', '--stage', STAGE, '--require-approval', 'never']
    const { code, errors } = await runTool('npm', args, { env, cwd: nextRelease(directory) })
    expect(code === 0, `the update ended with ${code}: ${errors.slice(-2_000)}`)
    const asked = new GetFunctionConfigurationCommand({ FunctionName: `${STACK}-api-create-payment` })
    const { LoggingConfig: logging } = await awsClients(REGION).lambda.send(asked)
    expect(logging?.ApplicationLogLevel === 'DEBUG', `the function still has log level ${logging?.ApplicationLogLevel}`)
  })
  await step('it knows the payments from before, and takes another one', async () => {
    await merchant.create('order-1', 200)
    await merchant.pay(await merchant.create('order-5'))
  })
}
