import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseYaml } from '@redocly/openapi-core'
import { describe, expect, it } from 'vitest'
import { pipelineRoleOf } from '../../infra/operate/check/pipeline-role.ts'
import { NODE_MAJOR } from '../../infra/stack/functions/node-major.ts'
import { SOURCE_MAPS } from '../../infra/stack/project-root.ts'
import packageJson from '../../package.json' with { type: 'json' }
import { matchesIn } from '../support/document-blocks.ts'
import { PROJECT_ROOT, projectText } from '../support/source-file.ts'

const FOLDER = join(PROJECT_ROOT, '.github/workflows')

type Fields = Readonly<Record<string, string>>
type Step = { readonly uses?: string; readonly run?: string; readonly with?: Fields }
type Job = { readonly permissions?: Fields; readonly steps?: readonly Step[] }
type Workflow = {
  readonly on: unknown
  readonly permissions: Fields
  readonly jobs: Readonly<Record<string, Job>>
}

function textOf(name: string) {
  return readFileSync(join(FOLDER, name), 'utf8')
}
function readWorkflow(name: string) {
  return parseYaml(textOf(name)) as Workflow
}
function stepsOf(name: string) {
  return Object.values(readWorkflow(name).jobs).flatMap(({ steps = [] }) => steps)
}

describe.each(readdirSync(FOLDER))('the workflow %s', (name) => {
  it('uses actions by their digest, so that they cannot change', () => {
    const used = stepsOf(name).flatMap(({ uses }) => uses ?? [])

    expect(
      used.filter((action) => !/^(?:actions|aws-actions)\/[a-z-]+@[0-9a-f]{40}$/.test(action)),
    ).toStrictEqual([])
  })

  it('runs only scripts that exist in package.json, and files of .ci', () => {
    const runs = stepsOf(name).flatMap(({ run = '' }) => run.split('\n'))
    const scripts = runs.flatMap((run) => matchesIn(run, /npm run (?:-s )?([\w:-]+)/g))
    const files = runs.flatMap((run) => matchesIn(run, /bash \.ci\/(\S+)/g))

    expect(scripts.filter((script) => !(script in packageJson.scripts))).toStrictEqual([])
    expect(
      files.filter((file) => !readdirSync(join(PROJECT_ROOT, '.ci')).includes(file)),
    ).toStrictEqual([])
    expect(scripts.length + files.length).toBeGreaterThan(0)
  })

  const optionsOf = (action: string) =>
    stepsOf(name).flatMap(({ uses = '', with: options }) =>
      uses.startsWith(`actions/${action}@`) ? [options] : [],
    )

  it('installs the Node of .nvmrc', () => {
    expect(
      new Set(optionsOf('setup-node').map((options) => JSON.stringify(options))),
    ).toStrictEqual(new Set(['{"node-version-file":".nvmrc"}']))
  })

  it('keeps no credentials after a checkout, and knows no long-lived key', () => {
    const checkouts = optionsOf('checkout')

    expect(checkouts.map((options) => options?.['persist-credentials'])).toStrictEqual(
      checkouts.map(() => false),
    )

    expect(textOf(name)).not.toMatch(/secrets\.|access-key/)
  })
})

it.each([
  ['ci.yml', 'bash .ci/run'],
  ['nightly.yml', 'bash .ci/nightly'],
])('the workflow %s runs %s, and may only read', (name, command) => {
  expect(stepsOf(name).map(({ run }) => run)).toContain(command)
  expect(readWorkflow(name).permissions).toStrictEqual({ contents: 'read' })
})

describe('the workflow deploy.yml', () => {
  const { jobs, permissions, on } = readWorkflow('deploy.yml')

  it('gives each job only named permissions, and a token for AWS only to the jobs of the stages', () => {
    const writtenPermissions = Object.entries(jobs).map(([name, job]) => [
      name,
      Object.keys(job.permissions ?? { everything: 'write' }).filter(
        (permission) => job.permissions?.[permission] !== 'read',
      ),
    ])

    expect(permissions).toStrictEqual({})
    expect(Object.fromEntries(writtenPermissions)).toStrictEqual({
      diff: [],
      comment: ['pull-requests'],
      ci: [],
      package: [],
      dev: ['id-token'],
      prod: ['id-token'],
    })
  })

  it('runs no code of a pull request in a job that may write, and deploys only commits of main that ci has passed', () => {
    expect(jobs['comment']?.steps).toStrictEqual([
      { run: expect.stringMatching(/^gh pr comment /), env: expect.anything() },
    ])
    expect(jobs['ci']).toMatchObject({
      uses: './.github/workflows/ci.yml',
      if: "github.event_name == 'push' && vars.AWS_REGION != ''",
    })
    expect(on).toStrictEqual({ push: { branches: ['main'] }, pull_request: null })
  })

  it.each([
    ['dev', 'package'],
    ['prod', ['package', 'dev']],
  ])(
    'deploys %s after %s, one deployment at a time, and ends with the doctor, whose failure counts',
    (stage, needs) => {
      const concurrency = { group: `deploy-${stage}`, 'cancel-in-progress': false }
      expect(jobs[stage]).toMatchObject({
        needs,
        environment: stage,
        env: { STAGE: stage },
        concurrency,
      })
      expect(jobs[stage]?.steps?.slice(-2).map(({ run }) => run)).toStrictEqual([
        'npm run -s deploy -- --stage "$STAGE" --app "cdk.out/$STAGE" --require-approval never',
        'npm run -s doctor -- --stage "$STAGE"',
      ])
      expect(textOf('deploy.yml')).not.toMatch(/continue-on-error|always\(\)|\|\| true/)
    },
  )
})

it('no job with an identity installs anything: it runs the files of a job without identity, by their digest', () => {
  const { jobs } = readWorkflow('deploy.yml')
  const withIdentity = Object.values(jobs).filter((job) => job.permissions?.['id-token'])

  expect(withIdentity).toHaveLength(2)
  for (const { steps = [] } of withIdentity) {
    const text = JSON.stringify(steps)
    expect(text).not.toMatch(
      /npm (ci|i|install|rebuild|exec)\b|npx|\.ci\/install|checkout|setup-node/,
    )
    expect(steps[0]?.uses).toMatch(/^actions\/download-artifact@/)
    expect(steps[1]?.run).toContain('echo "$SHA256  release.tar.gz" | sha256sum --check')
    expect(steps.findIndex(({ uses }) => uses?.startsWith('aws-actions/'))).toBe(2)
  }
})

it('the pipeline keeps the source maps of each stage for 90 days, for `npm run source-lines`', () => {
  const kept = stepsOf('deploy.yml').filter((step) => step.with?.['name'] === 'maps')

  expect(kept.map((step) => step.with)).toMatchObject([
    { path: `cdk.out/*/${SOURCE_MAPS}`, 'retention-days': 90 },
  ])
})

it('CI runs no install script of a package but the one that is named, and our own', () => {
  const files = ['install', 'run', 'nightly'].map((file) => projectText(`.ci/${file}`))
  const text = [...files, ...readdirSync(FOLDER).map(textOf)].join('\n')

  const installs = matchesIn(text, /^(?!\s*#).*\b(npm (?:ci|install|i)\b.*)$/gm)
  expect(installs).toStrictEqual(['npm ci --ignore-scripts'])
  expect(files[0]).toMatch(/npm rebuild esbuild\nnode infra\/operate\/deploy\/link-node\.mjs\n$/)
})

it('docs/operations.md makes the pipeline’s role with the ids of the repository, and an approval', () => {
  const operations = projectText('docs/operations.md')
  const [, text = ''] = /^(\*\*The pipeline\*\*[\s\S]+?)^\*\*A first/m.exec(operations) ?? []

  const [ids] = matchesIn(text, /--jq '"(.+)"'\)$/gm)
  expect(ids).toBe('\\(.owner.login)@\\(.owner.id)/\\(.name)@\\(.id)')
  expect(text).toContain('npm run deploy -- --init --repository "$ids" --stage prod\n')
  expect(text).toMatch(/environments\/prod [\s\S]+"reviewers": \[\{/)
  expect(text).toContain(`role/${pipelineRoleOf('prod')}"`)
})

const { dependencies, devDependencies, optionalDependencies } = packageJson
const PACKAGES = Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies })

type Group = { readonly patterns: readonly string[]; readonly 'dependency-type'?: string }
type Ignored = {
  readonly 'dependency-name': string
  readonly versions?: readonly string[]
  readonly 'update-types'?: readonly string[]
}
type Update = {
  readonly 'package-ecosystem': string
  readonly groups: Readonly<Record<string, Group>>
  readonly ignore?: readonly Ignored[]
}
type Settings = { readonly updates: readonly Update[] }

/** In a pattern, a star at the end stands for any text. */
function isNamed(name: string, patterns: readonly string[]) {
  return patterns.some((pattern) => {
    const [start = '', rest] = pattern.split('*')
    return rest === undefined ? name === pattern : name.startsWith(start)
  })
}

function isInGroup(name: string, { patterns, 'dependency-type': type }: Group) {
  const isOfType = type === undefined || name in devDependencies
  return isOfType && isNamed(name, patterns)
}

describe('.github/dependabot.yml', () => {
  const { updates } = parseYaml(projectText('.github/dependabot.yml')) as Settings
  const npm = updates.find((update) => update['package-ecosystem'] === 'npm')
  const groups = Object.values(npm?.groups ?? {})
  const ignored = npm?.ignore ?? []

  it('names only packages of package.json', () => {
    const patterns = groups.flatMap((group) => group.patterns)
    const names = [...patterns, ...ignored.map((entry) => entry['dependency-name'])]
    const unknownNames = names.filter(
      (pattern) => !PACKAGES.some((name) => isNamed(name, [pattern])),
    )

    expect(names.length).toBeGreaterThan(5)
    expect(unknownNames).toStrictEqual([])
  })

  it('groups all packages, except those that the functions run and those that are changed by hand', () => {
    const byHand = ignored.filter((entry) => !entry.versions && !entry['update-types'])
    const names = byHand.map((entry) => entry['dependency-name'])
    const ungrouped = PACKAGES.filter((name) => !groups.some((group) => isInGroup(name, group)))

    const ownPackages = Object.keys(dependencies).filter((name) => !name.startsWith('@aws-sdk/'))
    expect(names).toStrictEqual(['node-*'])
    expect(ungrouped).toStrictEqual([...ownPackages, ...Object.keys(optionalDependencies)])
  })
})

const VERSION = projectText('.nvmrc').trim()
const MAJOR = VERSION.split('.')[0]

describe('the version of Node in .nvmrc', () => {
  it('is installed on more platforms than any other version, and CONTRIBUTING.md names the other versions', () => {
    const versions = Object.values(packageJson.optionalDependencies)
    const [, setUp = ''] = projectText('CONTRIBUTING.md').split(/^## /m)

    const countOf = (version: string) =>
      versions.filter((installed) => installed === version).length
    const otherVersions = [...new Set(versions)].filter((version) => version !== VERSION)
    expect(otherVersions.filter((version) => countOf(version) >= countOf(VERSION))).toStrictEqual(
      [],
    )
    expect(new Set(matchesIn(setUp, /\b(\d+\.\d+\.\d+)\b/g))).toStrictEqual(new Set(versions))
  })

  it('has the major version of every platform, of every Lambda function, of its bundles and of the types', () => {
    const template = projectText('test/infra/templates/prod.txt')
    const runtimes = matchesIn(template, /"Runtime":"([^"]+)"/g)
    const platforms = Object.values(packageJson.optionalDependencies)

    expect(new Set(runtimes)).toStrictEqual(new Set([`nodejs${MAJOR}.x`]))
    expect(String(NODE_MAJOR)).toBe(MAJOR)
    expect(platforms.map((version) => version.split('.')[0])).toStrictEqual(Array(5).fill(MAJOR))

    expect(packageJson.devDependencies['@types/node'].split('.')[0]).toBe(MAJOR)
  })
})

describe('the dev container', () => {
  const container = JSON.parse(projectText('.devcontainer/devcontainer.json'))

  it('has the Node of .nvmrc and the Java of CI', () => {
    const [java] = matchesIn(projectText('.github/workflows/ci.yml'), /java-version: (\d+)/g)

    expect(container.features).toStrictEqual({
      'ghcr.io/devcontainers/features/node:1': { version: VERSION },
      'ghcr.io/devcontainers/features/java:1': { version: java },
    })
  })

  it('runs the installation of both commands in the README, and forwards the ports of the first command', () => {
    const readme = projectText('README.md')
    const installations = matchesIn(readme, /^(npm \w+) && npm (?:start|test) /gm)
    const [first] = matchesIn(readme, /^`PORT` \((\d+)\)/gm)
    const offsets = matchesIn(readme, /^\| PORT(\+\d)? \|/gm)
    const ports = offsets.map((offset) => Number(first) + Number(offset))

    expect(installations).toStrictEqual([container.postCreateCommand, container.postCreateCommand])
    expect(container.forwardPorts).toStrictEqual(ports)
    expect(Object.keys(container.portsAttributes)).toStrictEqual(ports.map(String))
  })
})
