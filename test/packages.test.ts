import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import packageJson from '../package.json' with { type: 'json' }
import { type Locked, type Uses, unlistedImports, unusedPackages } from './package-uses.ts'
import { blocksOf } from './support/document-blocks.ts'
import { PROJECT_ROOT, parseSource, projectText, sourcesIn } from './support/source-file.ts'

const NAMES = Object.keys({
  ...packageJson.dependencies,
  ...packageJson.devDependencies,
  ...packageJson.optionalDependencies,
})

const FOLDERS = ['shared', 'functions', 'infra', 'test', 'docs']
/** JavaScript, which runs before packages are installed or without them. */
const SCRIPTS = ['.ci/check-lock.mjs', 'infra/operate/deploy/link-node.mjs']

function filesIn(folder: string, ending: RegExp): readonly string[] {
  return readdirSync(join(PROJECT_ROOT, folder))
    .filter((name) => ending.test(name))
    .map((name) => (folder === '' ? name : `${folder}/${name}`))
}

/** The programs in the documents for merchants. Tests run them. */
function programsOfMerchants() {
  return filesIn('docs/merchants', /\.md$/).flatMap((path) =>
    blocksOf(path)
      .filter(({ language }) => language === 'ts' || language === 'js')
      .map(({ language, line, text }) => parseSource(`${path}-${line}.${language}`, text)),
  )
}

/** The packages of the lock file, by name. */
function lockedPackages(): Readonly<Record<string, Locked>> {
  const { packages } = JSON.parse(projectText('package-lock.json'))
  const entries = Object.entries<Locked>(packages)
  return Object.fromEntries(entries.map(([path, one]) => [path.replace('node_modules/', ''), one]))
}

const TREE: Uses = {
  sources: [
    ...sourcesIn(...FOLDERS),
    ...[...filesIn('', /\.ts$/), ...SCRIPTS].map((path) => parseSource(path, projectText(path))),
    ...programsOfMerchants(),
  ],
  scripts: [
    ...Object.values(packageJson.scripts),
    ...filesIn('.github/workflows', /\.yml$/).map(projectText),
    ...filesIn('.ci', /^\w+(-\w+)*$/).map(projectText),
  ],
  locked: lockedPackages(),
}

describe('package.json', () => {
  it('lists no package that nothing imports or runs', () => {
    expect(unusedPackages(NAMES, TREE)).toStrictEqual([])
  })

  it('lists every package that is imported', () => {
    expect(unlistedImports(NAMES, TREE.sources)).toStrictEqual([])
  })
})

type Sample = readonly [how: string, uses: Partial<Uses>, name: string]

function file(path: string, text: string) {
  return { sources: [parseSource(path, text)] }
}
function script(text: string, locked: Locked = { bin: { run: 'bin/run.js' } }) {
  return { scripts: [text], locked: { one: locked } }
}

const peers = { peerDependencies: { two: '1' } }

const USED: readonly Sample[] = [
  ['a file imports it', file('shared/a.ts', `import { a } from 'one'`), 'one'],
  ['a file imports a part of it', file('test/a.ts', `import '@of/one/part.js'`), '@of/one'],
  ['a file imports it late', file('infra/a.ts', `await import('one')`), 'one'],
  ['a file has a type of it', file('test/a.ts', `export type A = import('one').A`), 'one'],
  ['a file exports it', file('shared/a.ts', `export * from 'one'`), 'one'],
  ['a file resolves it', file('test/a.ts', `import.meta.resolve('one/package.json')`), 'one'],
  ['a file requires it', file('infra/a.ts', `createRequire('').resolve('one')`), 'one'],
  ['a file reads it by its path', file('infra/a.ts', `read('node_modules/one/a.js')`), 'one'],
  ['it has the types of an import', file('test/a.ts', `import 'one'`), '@types/one'],
  ['it has the types of Node', file('test/a.ts', `import 'node:fs'`), '@types/node'],
  ['a script runs its program', script('tsc && A=1 exec run --fast'), 'one'],
  ['a workflow runs its program', script('steps:\n  - run: npx run'), 'one'],
  ['a step runs its program', script('  step run --fast'), 'one'],
  ['a program takes it as a peer', script('run', { bin: { run: '' }, ...peers }), 'two'],
]

const NOT_USED: readonly Sample[] = [
  ['a comment names it', file('shared/a.ts', `// import 'one'`), 'one'],
  ['a text names it', file('shared/a.ts', `export const a = 'one'`), 'one'],
  ['another package has its name in front', file('shared/a.ts', `import 'one-more'`), 'one'],
  ['a file of the tree has its name', file('shared/a.ts', `import './one'`), 'one'],
  ['a promise has its name as a value', file('shared/a.ts', `Promise.resolve('one')`), 'one'],
  ['a test has a path of it', file('test/a.ts', `write('node_modules/one/a.js')`), 'one'],
  ['a comment in a script names its program', script('# run'), 'one'],
  ['an argument is called like its program', script('npm run build'), 'one'],
  ['only its own name is run, not its program', script('one'), 'one'],
  [
    'a package that no script runs takes it as a peer',
    { ...file('test/a.ts', `import 'one'`), ...script('one', peers) },
    'two',
  ],
]

describe('a package', () => {
  const NONE: Uses = { sources: [], scripts: [], locked: {} }

  it.each(USED)('is used if %s', (_how, uses, name) => {
    const names = name === 'two' ? ['one', 'two'] : [name]

    expect(unusedPackages([...names, 'unused'], { ...NONE, ...uses })).toStrictEqual(['unused'])
  })

  it.each(NOT_USED)('is unused although %s', (_how, uses, name) => {
    const names = name === 'two' ? ['one', 'two'] : [name]

    expect(unusedPackages(names, { ...NONE, ...uses })).toStrictEqual([name])
  })
})

describe('an import', () => {
  const importing = parseSource('test/clients/use.ts', `import 'one'; import './two.ts'`)

  it('is refused if package.json does not list its package', () => {
    expect(unlistedImports(['two'], [importing])).toStrictEqual(['test/clients/use.ts: one'])
  })

  it('is accepted if package.json lists its package, or the types of it', () => {
    expect(unlistedImports(['one'], [importing])).toStrictEqual([])
    expect(unlistedImports(['@types/one'], [importing])).toStrictEqual([])
  })

  it('is accepted if a file beside it installs its package', () => {
    const installs = `export const command = 'npm install one@1.2.3'`
    const beside = parseSource('test/clients/main.ts', installs)
    const elsewhere = parseSource('test/main.ts', installs)

    expect(unlistedImports([], [importing, beside])).toStrictEqual([])
    expect(unlistedImports([], [importing, elsewhere])).toHaveLength(1)
  })
})
