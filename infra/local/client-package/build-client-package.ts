import { spawnSync } from 'node:child_process'
import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { PROJECT_ROOT } from '../../stack/project-root.ts'

const SOURCES = join(PROJECT_ROOT, 'docs/examples')

export const PACKAGE_NAME = 'payment-gateway-client'

const BUILDS = [
  ['esm', 'module'],
  ['cjs', 'commonjs'],
] as const

/**
 * Stricter than the project's own options, because a merchant's project checks the types by its
 * own. ES2022 is what Node 20 runs.
 */
const COMPILER_OPTIONS =
  '--ignoreConfig --strict --exactOptionalPropertyTypes --noUncheckedIndexedAccess ' +
  '--noPropertyAccessFromIndexSignature --declaration --rewriteRelativeImportExtensions ' +
  '--module nodenext --target es2022 --types node'

/**
 * Builds the client of docs/examples as a package in the existing `folder`: ESM and CommonJS, each
 * with types. A second run replaces the package. The compiler writes nothing for files below
 * node_modules, so `folder` is elsewhere. Throws with the compiler's words.
 */
export function buildClientPackage(folder: string) {
  const sources = join(folder, 'src')
  mkdirSync(sources, { recursive: true })
  const modules = readdirSync(SOURCES).filter((name) => name.endsWith('.ts'))
  for (const name of modules) copyFileSync(join(SOURCES, name), join(sources, name))
  const everything = modules.map((name) => `export * from './${name}'\n`)
  writeFileSync(join(sources, 'index.ts'), everything.join(''))
  for (const [name, type] of BUILDS) {
    const output = join(folder, name)
    rmSync(output, { recursive: true, force: true })
    writeFileSync(join(sources, 'package.json'), JSON.stringify({ type }))
    compile(sources, output)
    copyFileSync(join(sources, 'package.json'), join(output, 'package.json'))
  }
  rmSync(sources, { recursive: true })
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify(description(), null, 2)}\n`)
  copyFileSync(join(SOURCES, 'README.md'), join(folder, 'README.md'))
  copyFileSync(join(PROJECT_ROOT, 'LICENSE'), join(folder, 'LICENSE'))
}

const COMPILE_TIMEOUT_MS = 120_000

function compile(sources: string, output: string) {
  const compiler = join(PROJECT_ROOT, 'node_modules/typescript/bin/tsc')
  const typeRoots = join(PROJECT_ROOT, 'node_modules/@types')
  const folders = ['--typeRoots', typeRoots, '--rootDir', sources, '--outDir', output]
  const args = [...COMPILER_OPTIONS.split(' '), ...folders, join(sources, 'index.ts')]
  const { status, stdout, error } = spawnSync(process.execPath, [compiler, ...args], {
    encoding: 'utf8',
    timeout: COMPILE_TIMEOUT_MS,
  })
  if (status !== 0) throw new Error(`docs/examples does not compile: ${stdout}`, { cause: error })
  for (const name of readdirSync(output).filter((file) => file.endsWith('.d.ts'))) {
    const path = join(output, name)
    // The compiler rewrites these names in code only.
    const types = readFileSync(path, 'utf8').replaceAll(/(['"]\.\/[\w-]+)\.ts\b/g, '$1.js')
    writeFileSync(path, types)
  }
}

const Project = v.object({ version: v.string(), license: v.string() })

/** A release of the gateway has its client, of the same version. */
function description() {
  const text = readFileSync(join(PROJECT_ROOT, 'package.json'), 'utf8')
  const { version, license } = v.parse(Project, JSON.parse(text))
  const entry = (name: string) => ({ types: `./${name}/index.d.ts`, default: `./${name}/index.js` })
  return {
    name: PACKAGE_NAME,
    version,
    description: 'A client for the payment gateway, and receivers for its webhooks.',
    license,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20' },
    exports: {
      '.': { import: entry('esm'), require: entry('cjs') },
      './package.json': './package.json',
    },
    // For tools that do not read `exports`.
    main: './cjs/index.js',
    types: './cjs/index.d.ts',
    files: BUILDS.map(([name]) => name),
    // The types name node:http. JavaScript needs none of it.
    peerDependencies: { '@types/node': '>=20' },
    peerDependenciesMeta: { '@types/node': { optional: true } },
  }
}
