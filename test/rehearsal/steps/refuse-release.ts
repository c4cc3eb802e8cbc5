import type { Merchant } from '../merchant.ts'
import { expect, type Rehearsal, STAGE } from '../rehearsal.ts'
import { releaseWith } from '../release.ts'
import { runTool } from '../run-tool.ts'

type Break = { readonly what: string; readonly file: string; readonly change: (text: string) => string }

const BREAKS: readonly Break[] = [
  {
    what: 'whose worker throws at load',
    file: 'functions/queue/deliver-webhook.ts',
    change: (text) => `${text}\nthrow new Error('broken on purpose')\n`,
  },
  {
    what: 'whose configuration is wrong',
    file: 'infra/stack/functions/environment.ts',
    change: (text) => text.replace('[ENV.stage]: stage.settings.name', "[ENV.stage]: 'Not A Stage'"),
  },
  {
    what: 'whose API may not read clients',
    file: 'functions/table-access.ts',
    change: (text) => text.replace("BatchGetItem: ['APIKEY', 'CLIENT']", "BatchGetItem: ['APIKEY']"),
  },
]

/** Releases that cannot work fail at their proof, and the stage goes on with the one before. */
export const refuseRelease = async (rehearsal: Rehearsal, merchant: Merchant): Promise<void> => {
  const { env, step } = rehearsal
  for (const [at, one] of BREAKS.entries()) {
    await step(`npm run deploy refuses a release ${one.what}`, async () => {
      const cwd = releaseWith(rehearsal, `broken-release-${at}`, one.file, one.change)
      const args = ['run', '-s', 'deploy', '--', '--stage', STAGE, '--require-approval', 'never']
      const { code, output, errors } = await runTool('npm', args, { env, cwd })
      expect(code !== 0, 'the broken release was deployed')
      expect(`${output}${errors}`.includes('ReleaseProof'), `it failed elsewhere:\n${errors.slice(-2_000)}`)
    })
  }
  await step('the release before it goes on', async () => {
    await merchant.pay(await merchant.create('order-after-refusal'))
  })
}
