import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import { describe, expect, it } from 'vitest'
import cdkJson from '../../../cdk.json' with { type: 'json' }
import { ok, unclear, wrong } from '../../../infra/operate/check/finding.ts'
import { OLDEST_BOOTSTRAP } from '../../../infra/operate/deploy/check-account.ts'
import { type DeployIo, runCdk, runDeploy } from '../../../infra/operate/deploy/run-deploy.ts'
import { GatewayStack } from '../../../infra/stack/gateway-stack.ts'
import { deployedStage } from '../../../infra/stack/stage.ts'
import { tempDirectory } from '../../support/temp-directory.ts'

type CdkCall = { readonly args: readonly string[]; readonly region: string | undefined }

/** The tool with what it would print, and CDK faked as the process it is. */
const aDeployment = (overrides: Partial<DeployIo> & { readonly cdkAnswers?: number } = {}) => {
  const calls: CdkCall[] = []
  const printed: string[] = []
  const io: DeployIo = {
    out: (text) => void printed.push(text),
    err: (text) => void printed.push(text),
    env: { AWS_DEFAULT_REGION: 'ap-southeast-3' },
    runCdk: async (args, env) => {
      calls.push({ args, region: env['AWS_REGION'] })
      return overrides.cdkAnswers ?? 0
    },
    preflight: async () => ({ findings: [ok('packages', 'fine')], first: false }),
    ...overrides,
  }
  const run = async (...argv: readonly string[]) => ({
    code: await runDeploy(argv, io),
    calls,
    text: printed.join('\n'),
  })
  return { run }
}

describe('npm run deploy', () => {
  it('deploys every stack of the stage, in the region that was looked at, and passes further flags on', async () => {
    const { code, calls } = await aDeployment().run('--stage', 'prod', '--require-approval', 'never')

    expect(code).toBe(0)
    expect(calls).toStrictEqual([
      {
        args: ['deploy', '--all', '--no-notices', '-c', 'stage=prod', '--require-approval', 'never'],
        region: 'ap-southeast-3',
      },
    ])
  })

  it('starts nothing when something is missing, and says what to do', async () => {
    const findings = [ok('packages', 'fine'), wrong('region', 'none is set', 'set AWS_REGION')]
    const { code, calls, text } = await aDeployment({ preflight: async () => ({ findings, first: true }) }).run(
      '--stage=dev',
    )

    expect(code).toBe(1)
    expect(calls).toStrictEqual([])
    expect(text).toBe(
      [
        'ok              packages: fine',
        'missing         region: none is set',
        '                  -> set AWS_REGION',
        '',
        'Nothing was started.',
      ].join('\n'),
    )
  })

  it('goes on where it could not look: CDK will say', async () => {
    const findings = [unclear('domain', 'AccessDenied', 'ask someone')]
    const { code, calls } = await aDeployment({ preflight: async () => ({ findings, first: false }) }).run(
      '--stage=dev',
    )

    expect(code).toBe(0)
    expect(calls).toHaveLength(1)
  })

  it('only looks with --check', async () => {
    const { code, calls } = await aDeployment().run('--stage', 'dev', '--check')

    expect(code).toBe(0)
    expect(calls).toStrictEqual([])
  })

  it('answers the exit code of cdk', async () => {
    expect((await aDeployment({ cdkAnswers: 3 }).run('--stage', 'dev')).code).toBe(3)
  })

  it('says what is left to do after the first deployment that went well, and only then', async () => {
    const first: DeployIo['preflight'] = async () => ({ findings: [], first: true })

    expect((await aDeployment({ preflight: first }).run('--stage', 'dev')).text).toContain(
      "put the provider's key into the secret gateway/dev/provider, and its callback token into gateway/dev/provider-callback",
    )
    expect((await aDeployment({ preflight: first }).run('--stage', 'dev')).text).toContain(
      'npm run -s admin -- sweep-settlements --stage dev',
    )
    const prepared = ['--stage', 'dev', '--method', 'prepare-change-set']
    expect((await aDeployment({ preflight: first }).run(...prepared)).text).not.toContain('secret')
    expect((await aDeployment({ preflight: first, cdkAnswers: 1 }).run('--stage', 'dev')).text).not.toContain('secret')
    expect((await aDeployment().run('--stage', 'dev')).text).not.toContain('secret')
  })

  it.each([[[]], [['--stage', 'dev', '-c', 'stage=prod']], [['--stage', 'dev', '--context=stage=prod']]])(
    'refuses to be called as %j: the stage that was looked at must be the one that is deployed',
    async (argv) => {
      const { code, calls, text } = await aDeployment().run(...argv)

      expect(code).toBe(2)
      expect(calls).toStrictEqual([])
      expect(text).toContain('name the stage with --stage NAME')
    },
  )

  it.each([
    [['--chek'], 'unknown flag: --chek'],
    [['--dry-run'], 'unknown flag: --dry-run'],
    [['--check=true'], 'unknown flag: --check=true'],
    [['--hotswap'], 'unknown flag: --hotswap'],
    [['--no-rollback=false'], 'unknown flag: --no-rollback=false'],
    [['--profile', 'other'], '--profile is not taken: set AWS_PROFILE'],
    [['--region=us-east-1'], '--region is not taken: set AWS_REGION'],
    [['--role-arn', 'arn:aws:iam::1:role/x'], '--role-arn is not taken: set AWS_PROFILE'],
    [['--app', 'node other.ts'], '--app is not taken'],
    [['gateway-prod'], 'unexpected argument: gateway-prod'],
    [['--stage', 'prod', '--stage', 'dev'], '--stage is given twice'],
    [['--require-approval'], '--require-approval needs a value'],
    [['--require-approval', '--check'], '--require-approval needs a value'],
  ])('refuses %j, which CDK would ignore or with which it would deploy something else', async (argv, message) => {
    const { code, calls, text } = await aDeployment().run('--stage', 'prod', ...argv)

    expect(code).toBe(2)
    expect(calls).toStrictEqual([])
    expect(text).toContain(message)
  })

  it('passes on every flag it names, and shows the preflight those that matter to it', async () => {
    const seen: (readonly string[])[] = []
    const { code, calls } = await aDeployment({
      preflight: async ({ flags }) => {
        seen.push(flags)
        return { findings: [ok('packages', 'fine')], first: false }
      },
    }).run(
      ...'--stage prod --import-existing-resources --no-rollback --method=prepare-change-set'.split(' '),
      ...'-v --verbose --progress events --outputs-file out.json'.split(' '),
    )

    const flags =
      '--import-existing-resources --no-rollback --method prepare-change-set -v --verbose --progress events --outputs-file out.json'.split(
        ' ',
      )
    expect(code).toBe(0)
    expect(seen).toStrictEqual([flags])
    expect(calls.map(({ args }) => args.slice(5))).toStrictEqual([flags])
  })

  it.each([[['--stage=']], [['--stage', '']], [['--stage']], [['--stage', '--check']]])(
    'refuses %j: the stage needs a name',
    async (argv) => {
      const { code, calls, text } = await aDeployment().run(...argv)

      expect(code).toBe(2)
      expect(calls).toStrictEqual([])
      expect(text).toContain('--stage needs a value')
    },
  )

  it('refuses a stage that cannot be', async () => {
    const { code, text } = await aDeployment().run('--stage', 'local')

    expect(code).toBe(2)
    expect(text).toContain('reserved for the local gateway')
  })

  it('runs the CDK of this project', async () => {
    expect(await runCdk(['no-such-command'], { PATH: process.env['PATH'], CDK_DISABLE_VERSION_CHECK: '1' })).toBe(1)
  })
})

describe('the bootstrap version asked for', () => {
  it('is the highest that the assembly names', () => {
    const outdir = tempDirectory()
    const app = new App({ outdir, context: { ...cdkJson.context, 'aws:cdk:bundling-stacks': [] } })
    new GatewayStack(app, 'gateway-dev', { stage: deployedStage('dev') })
    app.synth()

    const manifest = readFileSync(join(outdir, 'manifest.json'), 'utf8')
    const versions = [...manifest.matchAll(/"requiresBootstrapStackVersion": (\d+)/g)].map(([, version]) =>
      Number(version),
    )
    expect(Math.max(...versions)).toBe(OLDEST_BOOTSTRAP)
  })
})
