import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }
import { blocksOf, matchesIn } from './support/document-blocks.ts'
import { PROJECT_ROOT, parseSource, projectText, sourcesIn } from './support/source-file.ts'

const NAMES = Object.keys({
  ...packageJson.dependencies,
  ...packageJson.devDependencies,
  ...packageJson.optionalDependencies,
})

function filesIn(folder: string, ending: RegExp): readonly string[] {
  return readdirSync(join(PROJECT_ROOT, folder))
    .filter((name) => ending.test(name))
    .map((name) => join(folder, name))
}

const SOURCES = [
  ...sourcesIn('shared', 'functions', 'infra', 'test', 'docs'),
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
function described(name: string): string {
  return name.replace('@types/', '')
}

/** Node's own modules belong to `node`. */
function importedBy({ imports }: (typeof SOURCES)[number]): readonly string[] {
  return imports.flatMap(({ from }) =>
    matchesIn(from.replace(/^node:.*/, 'node'), /^((?:@[\w.-]+\/)?\w[\w.-]*)(?:\/|$)/g),
  )
}

function readBy({ text }: (typeof SOURCES)[number]): readonly string[] {
  return matchesIn(text, /(?:\.resolve\('|node_modules\/)((?:@[\w.-]+\/)?\w[\w.-]*)/g)
}

it('package.json lists no package that nothing imports or runs', () => {
  const { packages } = JSON.parse(projectText('package-lock.json'))
  const used = new Set(SOURCES.flatMap((file) => [...importedBy(file), ...readBy(file)]))
  const isRun = (program: string) => new RegExp(`(^|[\\s(])${program}\\b`, 'm').test(SCRIPTS)
  const programsOf = (name: string) => Object.keys(packages[`node_modules/${name}`].bin ?? {})

  const unused = NAMES.filter((name) => !used.has(described(name)) && !programsOf(name).some(isRun))

  // `oxlint --type-aware` runs it.
  expect(unused).toStrictEqual(['oxlint-tsgolint'])
})

it('package.json lists every package that is imported', () => {
  const listed = ['node', ...NAMES.map(described)]
  const unlisted = SOURCES.flatMap((file) =>
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
