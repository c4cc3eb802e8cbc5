import { GetFunctionConfigurationCommand } from '@aws-sdk/client-lambda'
import { functionName } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { awsClients } from '../../../infra/operate/check/aws-clients.ts'
import { describedStack } from '../../../infra/operate/check/described-stack.ts'
import { REGION } from '../emulator.ts'
import type { Merchant } from '../merchant.ts'
import { expect, type Rehearsal, STACK, STAGE } from '../rehearsal.ts'
import { releaseWith } from '../release.ts'
import { runTool } from '../run-tool.ts'
import { inTraffic } from '../traffic.ts'

/** What an update changes of each function: its code and its settings, as one text. */
const deployedNow = async (): Promise<string> => {
  const { lambda } = awsClients(REGION)
  const lines: string[] = []
  for (const spec of MANIFEST) {
    const asked = new GetFunctionConfigurationCommand({ FunctionName: functionName(STAGE, spec) })
    const { CodeSha256: code, LoggingConfig: logging, MemorySize: memory } = await lambda.send(asked)
    lines.push(`${spec.name} ${code} ${logging?.ApplicationLogLevel} ${memory}`)
  }
  return lines.join('\n')
}

/** Every function has changed when one that no request waits for turns out to be broken: all of them go back. */
export const rollBackUpdate = async (rehearsal: Rehearsal, merchant: Merchant): Promise<void> => {
  const { env, step } = rehearsal
  await step('an update fails and is rolled back, in mid-traffic: no create and no webhook fails', async () => {
    const before = await deployedNow()
    const broken = 'functions/queue/settle-client.ts'
    const cwd = releaseWith(rehearsal, 'rolled-back-release', broken, (text) => `${text}\nthrow new Error('broken')\n`)
    const args = ['run', '-s', 'deploy', '--', '--stage', STAGE, '--require-approval', 'never']
    await inTraffic(rehearsal, merchant, 'rollback', async () => {
      const { code } = await runTool('npm', args, { env, cwd })
      expect(code !== 0, 'the broken update was deployed')
    })
    const { StackStatus: status } = (await describedStack(awsClients(REGION).cloudFormation, STACK)) ?? {}
    expect(status === 'UPDATE_ROLLBACK_COMPLETE', `the stack is ${status}`)
    expect((await deployedNow()) === before, 'a function is not what it was before the update')
  })
}
