import { InvokeCommand } from '@aws-sdk/client-lambda'
import { describe, expect, it } from 'vitest'
import { OLDEST_BOOTSTRAP } from '../../../infra/operate/check/check-account.ts'
import { ok, unclear, wrong } from '../../../infra/operate/check/finding.ts'
import { finishStage } from '../../../infra/operate/deploy/init-stage.ts'
import { type DeployIo, runCdk, runDeploy } from '../../../infra/operate/deploy/run-deploy.ts'
import { matchesIn } from '../../support/document-blocks.ts'
import { lambdaAnswer } from '../../support/lambda-answer.ts'
import { synthesised } from '../../support/stack-template.ts'
import { captureOutput } from './around-tools.ts'
import { type ExaminedStage, examinedStage } from './examined-stage.ts'

async function runDeployTool(
  argv: readonly string[],
  overrides: Partial<DeployIo> & { readonly cdkAnswers?: number } = {},
) {
  const calls: { readonly args: readonly string[]; readonly region: string | undefined }[] = []
  const io: DeployIo = {
    env: { AWS_DEFAULT_REGION: 'ap-southeast-3' },
    runCdk: async (args, env) => {
      calls.push({ args, region: env['AWS_REGION'] })
      return overrides.cdkAnswers ?? 0
    },
    preflight: async () => ({ findings: [ok('packages', 'fine')], first: false }),
    finish: async () => 0,
    checkReferences: async () => [],
    ...overrides,
  }
  return { ...(await captureOutput(() => runDeploy(argv, io))), calls }
}

describe('npm run deploy', () => {
  it('starts nothing when a check fails, and says what to do to this stage; with --init, also the manual steps', async () => {
    const todo = 'set location in infra/stages/STAGE.json'
    const findings = [ok('packages', 'fine'), wrong('region', 'none is set', todo)]
    const preflight = async () => ({ findings, first: true })
    const { code, calls, text } = await runDeployTool(['--stage=dev'], { preflight })
    const initial = await runDeployTool(['--stage', 'dev', '--init'], {
      preflight,
      initStage: async () => [],
    })

    expect([code, calls, initial.code, initial.calls]).toStrictEqual([1, [], 1, []])
    expect(text).toBe(`ok              packages: fine
missing         region: none is set
                  -> set location in infra/stages/dev.json

Nothing was deployed.`)
    expect(initial.text).toContain(`${text}\n\nManual steps`)
  })

  const unclearPreflight = async () => ({
    findings: [unclear('domain', 'AccessDenied', 'ask someone')],
    first: false,
  })

  it.each([
    [
      'continues after an unclear check, because CDK checks again',
      { preflight: unclearPreflight },
      '--stage=dev',
      0,
      1,
    ],
    ['only checks with --check', {}, '--stage dev --check', 0, 0],
    ['returns the exit code of cdk', { cdkAnswers: 3 }, '--stage dev', 3, 1],
  ])('%s', async (_, overrides, argv, exitCode, cdkRuns) => {
    const { code, calls } = await runDeployTool(argv.split(' '), overrides)

    expect([code, calls.length]).toStrictEqual([exitCode, cdkRuns])
  })

  it('ends with 1 after a deployment that left references to an earlier stack, with the command', async () => {
    const { code, calls, text } = await runDeployTool(['--stage', 'dev'], {
      checkReferences: async () => [
        wrong('references between stacks', 'stale', 'aws cloudformation update-stack'),
      ],
    })

    expect([code, calls.length]).toStrictEqual([1, 1])
    expect(text).toContain('-> aws cloudformation update-stack')
  })

  const isFirst = async () => ({ findings: [], first: true })

  it('lists the remaining steps after the first deployment', async () => {
    const { text } = await runDeployTool(['--stage', 'dev'], { preflight: isFirst })

    expect(text.trim()).toBe(`Manual steps, each described in docs/operations.md, section 1:
  1. in the provider's dashboard make a key, enter the callback URL, copy its token; put both into the secrets gateway/dev/provider and gateway/dev/provider-callback
  2. then run the rare schedules and the doctor: npm run deploy -- --stage dev --init`)
  })

  it.each([
    [
      'a deployment that is only prepared',
      { preflight: isFirst },
      ['--method', 'prepare-change-set'],
    ],
    ['a failed deployment', { preflight: isFirst, cdkAnswers: 1 }, []],
    ['a later deployment', {}, []],
  ])('lists no steps after %s', async (_, overrides, flags) => {
    expect((await runDeployTool(['--stage', 'dev', ...flags], overrides)).text).not.toContain(
      'secret',
    )
  })

  it('creates missing parts before its checks, and lists the manual steps at the end', async () => {
    const order: string[] = []
    const { code, calls, text } = await runDeployTool(['--stage', 'prod', '--init'], {
      initStage: async ({ stage, region, runCdk: run }) => {
        order.push(`init ${stage.settings.name} in ${region}`)
        await run(['bootstrap', 'aws://1/us-east-1'])
        return [
          ok('CDK bootstrap in us-east-1', 'made'),
          wrong('account concurrency', '10', 'request it'),
        ]
      },
      preflight: async () => {
        order.push('preflight')
        return { findings: [ok('packages', 'fine')], first: true }
      },
      finish: async () => {
        order.push('finish')
        return 0
      },
    })

    expect([code, order]).toStrictEqual([0, ['init prod in ap-southeast-3', 'preflight']])
    expect(calls.map(({ args: [command], region }) => `${command} ${region}`).join()).toBe(
      'bootstrap ap-southeast-3,deploy ap-southeast-3',
    )
    expect(text).toMatch(
      /^ok +CDK bootstrap in us-east-1: made\nmissing +account concurrency: 10\n +-> request it\nok/,
    )
    expect(text).toContain(
      '  1. enter the servers of zone Z00000000000000000000 at the registrar of example.com\n ' +
        ' 2. in',
    )
  })

  const aQuota = wrong('account concurrency', '10', 'request it')
  it.each([
    ['1 without the role of the pipeline', 1, wrong('role gateway-dev-pipeline', 'x', 'ask')],
    ['1 if an earlier step prevented the role', 1, wrong('credentials', 'x', 'ask')],
    ['0 before AWS has granted a quota', 0, ok('role gateway-dev-pipeline', 'made')],
  ])('ends with %s', async (_, expected, made) => {
    const argv = ['--stage', 'dev', '--init', '--repository', 'shop@1/gateway@2']
    const { code, calls } = await runDeployTool(argv, {
      initStage: async () => [ok('bootstrap', 'made'), aQuota, made],
    })

    expect([code, calls.length]).toStrictEqual([expected, 1])
  })

  it.each([0, 3])(
    'ends a first deployment with the rare schedules and the doctor, and its exit code %i',
    async (says) => {
      const finished: (readonly [string, string | undefined])[] = []
      const { code, text } = await runDeployTool(['--stage', 'prod', '--init'], {
        initStage: async () => [],
        finish: async (stage, env) => {
          finished.push([stage, env['AWS_REGION']])
          return says
        },
      })

      expect([code, finished]).toStrictEqual([says, [['prod', 'ap-southeast-3']]])
      expect(text).not.toContain('Manual steps')
    },
  )

  it.each([
    ...[
      ['--init', '--repository', 'shop/gateway'],
      ['--repository', 'shop@11/gateway@22'],
    ].map((flags): [string[], string] => [
      ['--stage', 'prod', ...flags],
      '--repository is OWNER@OWNER_ID/REPOSITORY@REPOSITORY_ID, and needs --init',
    ]),
    [
      ['--stage', 'prod', '--init', '--check'],
      'give --check or --init, not both: --check changes nothing',
    ],
    [[], 'name the stage with --stage NAME'],
    [['--stage', 'prod', '-c', 'stage=dev'], "Unknown option '-c'"],

    [['--stage', 'prod', 'gateway-prod'], "Unexpected argument 'gateway-prod'"],
    [['--stage', 'prod', '--stage', 'dev'], '--stage is given twice'],

    [['--stage='], '--stage needs a value'],

    [['--stage', 'local'], 'stage local is reserved for the local gateway'],
  ])('refuses %j, which CDK would ignore or misunderstand', async (argv, message) => {
    const { code, calls, text } = await runDeployTool(argv)

    expect([code, calls]).toStrictEqual([2, []])
    expect(text.split('\n')[0]).toContain(message)
  })

  it('deploys every stack of the stage, in the checked region, with every given flag', async () => {
    const flags =
      '--import-existing-resources --no-rollback --method prepare-change-set --verbose ' +
      '--progress events --outputs-file out.json --revert-drift'
    const { code, calls } = await runDeployTool(['--stage', 'prod', ...flags.split(' ')])

    const args = ['deploy', '--all', '--no-notices', '-c', 'stage=prod', ...flags.split(' ')]
    expect([code, calls]).toStrictEqual([0, [{ args, region: 'ap-southeast-3' }]])
  })

  it('runs the CDK of this project', async () => {
    expect(
      await runCdk(['no-such-command'], {
        PATH: process.env['PATH'],
        CDK_DISABLE_VERSION_CHECK: '1',
      }),
    ).toBe(1)
  })
})

it('the required bootstrap version is the highest that the assembly names', () => {
  const manifest = JSON.stringify(synthesised('dev').assembly.manifest)
  const versions = matchesIn(manifest, /"requiresBootstrapStackVersion":(\d+)/g)

  expect(Math.max(...versions.map(Number))).toBe(OLDEST_BOOTSTRAP)
})

describe('finishStage', () => {
  const finished = ({ io }: ExaminedStage) =>
    captureOutput(() => finishStage('dev', { env: { AWS_REGION: 'ap-southeast-3' }, ...io }))

  it('runs the rare schedules, then the doctor, which finds nothing wrong', async () => {
    const stage = await examinedStage('dev')

    const { code, text } = await finished(stage)

    const functionNames = stage.aws.lambda
      .commandCalls(InvokeCommand)
      .map(({ args: [{ input }] }) => input.FunctionName)
    expect(functionNames.slice(0, 3)).toStrictEqual([
      'gateway-dev-sweep-settlements',
      'gateway-dev-sync-provider-transactions',
      'gateway-dev-audit-clients',
    ])
    expect(text).toMatch(
      /^sweep-settlements:\nproblems +none\nsync-provider-transactions:\nproblems +none\naudit-clients:\nproblems +none\nok +credentials[^]*provider key/,
    )
    expect(code).toBe(0)
  })

  it('fails when a schedule fails, and still runs the doctor', async () => {
    const stage = await examinedStage('dev')
    stage.aws.lambda
      .on(InvokeCommand, { FunctionName: 'gateway-dev-sync-provider-transactions' })
      .resolves({ ...lambdaAnswer({ errorMessage: 'no key' }), FunctionError: 'Unhandled' })

    const { code, text } = await finished(stage)

    expect(text).toMatch(/gateway-dev-sync-provider-transactions failed: [^]*provider key/)
    expect(code).toBe(1)
  })
})
