import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseYaml } from '@redocly/openapi-core'
import * as v from 'valibot'
import { describe, expect, it } from 'vitest'
import packageJson from '../../package.json' with { type: 'json' }
import { PROJECT_ROOT } from '../support/source-file.ts'

const FOLDER = join(PROJECT_ROOT, '.github/workflows')

const Permissions = v.record(v.string(), v.string())
const Step = v.looseObject({
  uses: v.optional(v.string()),
  run: v.optional(v.string()),
  with: v.optional(v.record(v.string(), v.unknown()), {}),
})
const Job = v.looseObject({
  if: v.optional(v.string()),
  needs: v.optional(v.string()),
  uses: v.optional(v.string()),
  environment: v.optional(v.string()),
  permissions: v.optional(Permissions),
  concurrency: v.optional(v.looseObject({ group: v.string(), 'cancel-in-progress': v.boolean() })),
  env: v.optional(v.record(v.string(), v.string()), {}),
  steps: v.optional(v.array(Step), []),
})
const Workflow = v.looseObject({ on: v.unknown(), permissions: Permissions, jobs: v.record(v.string(), Job) })

const textOf = (name: string) => readFileSync(join(FOLDER, name), 'utf8')
const read = (name: string) => v.parse(Workflow, parseYaml(textOf(name)))
const stepsOf = (name: string) => Object.values(read(name).jobs).flatMap(({ steps }) => steps)

const WORKFLOWS = readdirSync(FOLDER)

describe.each(WORKFLOWS)('the workflow %s', (name) => {
  it('uses actions that cannot change under their names', () => {
    const used = stepsOf(name).flatMap(({ uses }) => uses ?? [])

    expect(used.filter((one) => !/^(?:actions|aws-actions)\/[a-z-]+@[0-9a-f]{40}$/.test(one))).toStrictEqual([])
  })

  it('runs scripts of package.json that are there, and files of .ci', () => {
    const runs = stepsOf(name)
      .map(({ run = '' }) => run)
      .join('\n')
    const scripts = [...runs.matchAll(/npm run (?:-s )?([\w:-]+)/g)].map(([, script]) => script)
    const files = [...runs.matchAll(/bash \.ci\/(\S+)/g)].map(([, file]) => file)

    expect(scripts.filter((script) => !Object.keys(packageJson.scripts).includes(String(script)))).toStrictEqual([])
    expect(files.filter((file) => !readdirSync(join(PROJECT_ROOT, '.ci')).includes(String(file)))).toStrictEqual([])
    expect(scripts.length + files.length).toBeGreaterThan(0)
  })

  it('keeps no credentials after a checkout, and knows no long-lived key', () => {
    const checkouts = stepsOf(name).filter(({ uses = '' }) => uses.startsWith('actions/checkout@'))

    expect(checkouts.map((step) => step.with['persist-credentials'])).toStrictEqual(checkouts.map(() => false))
    expect(textOf(name)).not.toMatch(/secrets\.|access-key/)
  })
})

describe.each([
  ['ci.yml', 'bash .ci/run'],
  ['nightly.yml', 'bash .ci/nightly'],
])('the workflow %s', (name, command) => {
  it(`runs ${command} and may only read`, () => {
    expect(stepsOf(name).map(({ run }) => run)).toContain(command)
    expect(read(name).permissions).toStrictEqual({ contents: 'read' })
  })
})

describe('the workflow deploy.yml', () => {
  const { jobs, permissions } = read('deploy.yml')
  const assumes = (name: string) =>
    (jobs[name]?.steps ?? []).some(({ uses = '' }) => uses.startsWith('aws-actions/configure-aws-credentials@'))

  it('gives no job a permission but by name, and a token for AWS to the jobs of the stages alone', () => {
    const holders = (permission: string) =>
      Object.keys(jobs).filter((name) => jobs[name]?.permissions?.[permission] === 'write')

    expect(permissions).toStrictEqual({})
    expect(Object.keys(jobs).filter((name) => jobs[name]?.permissions === undefined)).toStrictEqual([])
    expect(holders('id-token')).toStrictEqual(['dev', 'prod'])
    expect(Object.keys(jobs).filter(assumes)).toStrictEqual(['dev', 'prod'])
    expect(holders('pull-requests')).toStrictEqual(['comment'])
    expect(holders('contents')).toStrictEqual([])
  })

  it('runs nothing that a pull request brings where it may write', () => {
    expect(jobs['comment']?.steps.flatMap(({ uses }) => uses ?? [])).toStrictEqual([])
    expect(jobs['comment']?.steps.map(({ run }) => run)).toStrictEqual([expect.stringMatching(/^gh pr comment .*/)])
  })

  it('compares what a pull request changes, and keeps one comment of it', () => {
    const said = jobs['comment']?.steps.map(({ run = '' }) => run).join('\n')

    expect(jobs['diff']?.steps.some(({ run = '' }) => run.includes('bash .ci/diff prod'))).toBe(true)
    expect(jobs['comment']?.needs).toBe('diff')
    expect(said).toContain('--edit-last --create-if-none')
  })

  it.each([
    ['dev', 'ci'],
    ['prod', 'dev'],
  ])('deploys %s after %s, in the environment of its name, one deployment at a time', (stage, before) => {
    const job = jobs[stage]

    expect(job).toMatchObject({
      needs: before,
      environment: stage,
      env: { STAGE: stage },
      concurrency: { group: `deploy-${stage}`, 'cancel-in-progress': false },
    })
    expect(job?.steps.find(({ uses = '' }) => uses.startsWith('aws-actions/'))?.with).toMatchObject({
      'role-to-assume': `\${{ vars.DEPLOY_ROLE_ARN }}`,
      'aws-region': `\${{ vars.AWS_REGION }}`,
    })
  })

  it.each(['dev', 'prod'])('ends the job of %s with the doctor, which nothing excuses', (stage) => {
    const steps = jobs[stage]?.steps ?? []

    expect(steps.slice(-2)).toStrictEqual([
      { run: 'npm run -s deploy -- --stage "$STAGE" --require-approval never', with: {} },
      { run: 'npm run -s doctor -- --stage "$STAGE"', with: {} },
    ])
    expect(textOf('deploy.yml')).not.toMatch(/continue-on-error|always\(\)|\|\| true/)
  })

  it('deploys what ci has passed of the main branch, and never what a pull request brings', () => {
    expect(jobs['ci']?.uses).toBe('./.github/workflows/ci.yml')
    expect(jobs['ci']?.if).toBe("github.event_name == 'push' && vars.AWS_REGION != ''")
    expect(read('ci.yml').on).toStrictEqual({ pull_request: null, workflow_call: null })
    expect(read('deploy.yml').on).toStrictEqual({ push: { branches: ['main'] }, pull_request: null })
  })
})

describe('docs/operations.md, of the role that the pipeline assumes', () => {
  const [, text = ''] =
    /^(\*\*The pipeline\*\*[\s\S]+?)^\*\*A first/m.exec(
      readFileSync(join(PROJECT_ROOT, 'docs/operations.md'), 'utf8'),
    ) ?? []
  const trust: unknown = JSON.parse(/```json\n(\{[^`]*sts:AssumeRoleWithWebIdentity[^`]*)```/.exec(text)?.[1] ?? 'null')

  it('trusts the environment of one stage of one repository, and no branch or pull request', () => {
    expect(trust).toMatchObject({
      Statement: [
        {
          Action: 'sts:AssumeRoleWithWebIdentity',
          Condition: {
            StringEquals: {
              'token.actions.githubusercontent.com:aud': 'sts.amazonaws.com',
              'token.actions.githubusercontent.com:sub': 'repo:OWNER/REPOSITORY:environment:prod',
            },
          },
        },
      ],
    })
  })

  it('holds what a deployer holds, and the environment wants an approval', () => {
    expect(text).toMatch(/environments\/prod [\s\S]+"reviewers": \[\{/)
    expect(text).toContain('--policy-arn "arn:aws:iam::$account:policy/gateway-prod-deploy"')
  })
})
