import { readdirSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MANIFEST } from '../functions/manifest.ts'
import { withWritten } from '../infra/local/terminal/with-written.ts'
import packageJson from '../package.json' with { type: 'json' }
import { UPSTREAM } from '../shared/table/upstream.ts'
import {
  isOfManifest,
  RULES,
  type RuleName,
  TREE_RULES,
  type TreeRuleName,
} from './architecture-rules.ts'
import { SAMPLES, TREE_SAMPLES } from './architecture-samples.ts'
import { dependencyPicture, roomsInCircle } from './dependency-picture.ts'
import { SHARED_FOLDERS } from './import-rules.ts'
import { blocksOf, matchesIn } from './support/document-blocks.ts'
import {
  PROJECT_ROOT,
  parseSource,
  projectText,
  type SourceFile,
  sourcesIn,
} from './support/source-file.ts'

const CODE = sourcesIn('shared', 'functions', 'infra')
const SOURCES = [...CODE, ...sourcesIn('test', 'docs')]

const CONFIG = parseSource('vitest.config.ts', projectText('vitest.config.ts'))

function violations(rule: RuleName) {
  return SOURCES.flatMap((file) =>
    RULES[rule](file).map((violation) => `${file.path}: ${violation}`),
  )
}

const RULE_NAMES = Object.keys(RULES) as RuleName[]
const TREE_RULE_NAMES = Object.keys(TREE_RULES) as TreeRuleName[]

/** Some of these files are not code: a certificate, for example. */
const PATHS = ['shared', 'functions', 'infra', 'test'].flatMap((folder) =>
  readdirSync(join(PROJECT_ROOT, folder), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) =>
      relative(PROJECT_ROOT, join(entry.parentPath, entry.name)).split(sep).join('/'),
    ),
)

describe('the source tree', () => {
  it.each(RULE_NAMES)('keeps the rule: %s', (rule) => {
    expect(violations(rule)).toStrictEqual([])
  })

  it.each(TREE_RULE_NAMES)('keeps the rule: %s', (rule) => {
    expect(TREE_RULES[rule](PATHS)).toStrictEqual([])
  })

  it('has no visible top-level folders except docs and those of code', () => {
    const generated = ['node_modules', 'cdk.out', 'coverage']
    const folders = readdirSync(PROJECT_ROOT, { withFileTypes: true })
      .filter(
        (entry) =>
          entry.isDirectory() && !entry.name.startsWith('.') && !generated.includes(entry.name),
      )
      .map(({ name }) => name)

    expect(['docs', 'functions', 'infra', 'shared', 'test']).toStrictEqual(
      expect.arrayContaining(folders),
    )
  })

  it.each([
    [['functions/', 'shared/'], 1_503],
    [['infra/'], 1_028],
    [['test/'], 3_350],
  ])('has in %j at most %i KB of code, white space counted as one byte', (folders, limit) => {
    const sources = SOURCES.filter(({ path }) => folders.some((folder) => path.startsWith(folder)))

    const sizes = sources.map(({ text }) => Buffer.byteLength(text.replaceAll(/\s+/g, ' ')))
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThanOrEqual(limit * 1_000)
  })

  it('exports only what another file names, and handlers', () => {
    const unused = SOURCES.filter(({ path }) => !path.startsWith('docs/')).flatMap(
      ({ path, exports }) => {
        const others = [...SOURCES, CONFIG].filter(({ imports }) =>
          imports.some((used) => used.path === path),
        )
        const isNamed = (name: string) =>
          others.some(({ text }) => new RegExp(`\\b${name}\\b`).test(text))
        return exports
          .filter(({ name }) => name !== 'handler' && others.length > 0 && !isNamed(name))
          .map(({ name }) => `${path}: ${name}`)
      },
    )
    expect(unused).toStrictEqual([])
  })

  it('loads, where it is deployed, neither the description of the API, nor the packages that make and show it, nor schemas of answers', () => {
    const loads = SOURCES.filter(
      ({ path }) =>
        /^(shared|functions|infra\/stack)\/|^infra\/app\.ts$/.test(path) &&
        !path.endsWith('-dto-schema.ts'),
    ).flatMap(({ path, imports }) =>
      imports.filter(({ typeOnly }) => !typeOnly).map(({ from }) => `${path} ${from}`),
    )

    expect(loads).toContain('infra/app.ts aws-cdk-lib')
    expect(
      loads.filter((load) => /redoc|to-json-schema|ajv|openapi|-dto-schema/.test(load)),
    ).toStrictEqual([])
  })

  it('has exactly the folders of shared that shared/README.md lists, with the runtime last', () => {
    const folders = new Set(
      SOURCES.map(({ path }) => dirname(path)).filter((folder) => folder.startsWith('shared/')),
    )

    expect(SHARED_FOLDERS.toSorted()).toStrictEqual([...folders].toSorted())
    expect(SHARED_FOLDERS.slice(-2)).toStrictEqual(['shared/runtime/aws', 'shared/runtime'])
  })

  it('has one manifest entry for each handler, and one handler for each entry', () => {
    const handlers = SOURCES.map(({ path }) => path).filter(
      (path) => path.startsWith('functions/') && !isOfManifest(path),
    )

    expect(MANIFEST.map(({ entry }) => entry).toSorted()).toStrictEqual(handlers.toSorted())
  })

  it('tests each operator action by itself, besides the tests that run all of them', () => {
    const tests = SOURCES.filter(
      ({ path }) => path.startsWith('test/') && path !== 'test/support/operator-world.ts',
    )
    const actions = MANIFEST.filter(({ trigger }) => trigger.kind === 'operator')
    const untested = actions.filter(
      ({ name, entry }) =>
        !tests.some(({ text }) => text.includes(`'${name}'`) || text.includes(`/${entry}'`)),
    )

    expect(untested.map(({ name }) => name)).toStrictEqual([])
  })
})

describe.each(RULE_NAMES)('the rule: %s', (rule) => {
  it.each(SAMPLES[rule])('refuses its sample in %s', (path, refused, accepted) => {
    expect(RULES[rule](parseSource(path, refused))).toHaveLength(1)
    if (accepted !== refused) expect(RULES[rule](parseSource(path, accepted))).toStrictEqual([])
  })
})

describe.each(TREE_RULE_NAMES)('the rule: %s', (rule) => {
  it.each(TREE_SAMPLES[rule])('refuses the tree %j', (refused, accepted) => {
    expect(TREE_RULES[rule](refused)).not.toStrictEqual([])
    expect(TREE_RULES[rule](accepted)).toStrictEqual([])
  })
})

it('callbacks are parsed in the folder that has the name of the provider', () => {
  expect(projectText('functions/callback/receive-provider-callback.ts')).toContain(
    `/provider/${UPSTREAM}/`,
  )
})

it('docs/dependencies.md shows the code as it is; otherwise: npm run picture -- --write', () => {
  const document = projectText('docs/dependencies.md')

  const picture = dependencyPicture(CODE)
  expect(document).toBe(withWritten(document, 'picture', picture))
})

it('no folder uses code of a folder that uses it', () => {
  expect(roomsInCircle(CODE)).toStrictEqual([])
})

const NAMES = Object.keys({
  ...packageJson.dependencies,
  ...packageJson.devDependencies,
  ...packageJson.optionalDependencies,
})

function filesIn(folder: string, ending: RegExp) {
  return readdirSync(join(PROJECT_ROOT, folder))
    .filter((name) => ending.test(name))
    .map((name) => join(folder, name))
}

const IMPORTING = [
  ...SOURCES,
  ...[...filesIn('.', /\.ts$/), '.ci/check-lock.mjs', 'infra/operate/deploy/link-node.mjs'].map(
    (path) => parseSource(path, projectText(path)),
  ),
  ...filesIn('docs/merchants', /\.md$/).flatMap((path) =>
    blocksOf(path)
      .filter(({ language }) => language === 'ts' || language === 'js')
      .map(({ language, line, text }) => parseSource(`${path}-${line}.${language}`, text)),
  ),
]
const SCRIPTS = [
  ...Object.values(packageJson.scripts),
  ...[...filesIn('.github/workflows', /\.yml$/), ...filesIn('.ci', /^[\w-]+$/)].map(projectText),
].join('\n')

/** The types of a package count as the package. */
function described(name: string) {
  return name.replace('@types/', '')
}

/** Node's own modules belong to `node`. */
function importedBy({ imports }: SourceFile) {
  return imports.flatMap(({ from }) =>
    matchesIn(from.replace(/^node:.*/, 'node'), /^((?:@[\w.-]+\/)?\w[\w.-]*)(?:\/|$)/g),
  )
}

function readBy({ text }: SourceFile) {
  return matchesIn(text, /(?:\.resolve\('|node_modules\/)((?:@[\w.-]+\/)?\w[\w.-]*)/g)
}

it('package.json lists no package that nothing imports or runs', () => {
  const { packages } = JSON.parse(projectText('package-lock.json'))
  const used = new Set(IMPORTING.flatMap((file) => [...importedBy(file), ...readBy(file)]))
  const isRun = (program: string) => new RegExp(`(^|[\\s(])${program}\\b`, 'm').test(SCRIPTS)
  const programsOf = (name: string) => Object.keys(packages[`node_modules/${name}`].bin ?? {})

  const unused = NAMES.filter((name) => !used.has(described(name)) && !programsOf(name).some(isRun))

  // `oxlint --type-aware` runs it.
  expect(unused).toStrictEqual(['oxlint-tsgolint'])
})

it('package.json lists every package that is imported', () => {
  const listed = ['node', ...NAMES.map(described)]
  const unlisted = IMPORTING.flatMap((file) =>
    importedBy(file)
      .filter((name) => !listed.includes(name))
      .map((name) => `${file.path}: ${name}`),
  )

  // `npm run clients` installs them where it runs these files.
  expect(unlisted).toStrictEqual([
    'test/clients/use-package.ts: payment-gateway-client',
    'test/clients/use-typescript.ts: openapi-fetch',
  ])
})
