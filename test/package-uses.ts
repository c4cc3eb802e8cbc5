import { dirname } from 'node:path/posix'
import type { ESTree } from 'vite'
import { isCode } from './import-rules.ts'
import { matchesIn } from './support/document-blocks.ts'
import type { SourceFile } from './support/source-file.ts'

/** What the lock file knows of a package: the programs that it brings, and what it loads beside. */
export type Locked = {
  readonly bin?: Readonly<Record<string, string>>
  readonly peerDependencies?: Readonly<Record<string, string>>
}

type Sources = readonly SourceFile[]

/** Where a package can be used: in a parsed file, or in the text of a script. */
export type Uses = {
  readonly sources: Sources
  readonly scripts: readonly string[]
  readonly locked: Readonly<Record<string, Locked>>
}

/**
 * The packages that no file imports or reads and no script runs. Types count as used with the
 * package that they describe, and a plugin with the program that takes it as a peer.
 */
export function unusedPackages(names: readonly string[], uses: Uses): readonly string[] {
  const { sources, scripts, locked } = uses
  const programs = scripts.flatMap(programsIn)
  const run = names.filter((name) => {
    const own = Object.keys(locked[name]?.bin ?? {})
    return own.some((program) => programs.includes(program))
  })
  const used = new Set([
    ...sources.flatMap(packagesOf),
    ...sources.filter(isCode).flatMap(packagesReadBy),
    ...run,
    ...run.flatMap((name) => Object.keys(locked[name]?.peerDependencies ?? {})),
  ])
  return names.filter((name) => !used.has(name) && !used.has(describedBy(name)))
}

/** The first word of each command in a script: the program that it runs. */
function programsIn(script: string): readonly string[] {
  return script
    .split('\n')
    .filter((line) => !/^\s*#/.test(line))
    .map((line) => line.replace(/^\s*(?:- )?run: /, ''))
    .flatMap((line) => line.split(/&&|\|\|?|;|\$\(/))
    .flatMap((command) => matchesIn(command, /^\s*(?:(?:exec|npx|step|\w+=\S*)\s+)*([\w.-]+)/g))
}

/** The packages that a file imports or resolves. Node's own modules belong to `node`. */
function packagesOf(file: SourceFile): readonly string[] {
  const imported = file.imports.map(({ from }) => from)
  return [...imported, ...file.nodes.flatMap(resolvedBy)].flatMap(packageOf)
}

/** `import.meta.resolve('…')` and `createRequire(…).resolve('…')`. */
function resolvedBy(node: ESTree.Node): readonly string[] {
  if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return []
  const { object, property } = node.callee
  const isResolver = object.type === 'MetaProperty' || object.type === 'CallExpression'
  if (!isResolver || property.type !== 'Identifier' || property.name !== 'resolve') return []
  return node.arguments.flatMap(textOf)
}

function textOf(node: ESTree.Node): readonly string[] {
  return node.type === 'Literal' && typeof node.value === 'string' ? [node.value] : []
}

function packageOf(specifier: string): readonly string[] {
  if (specifier.startsWith('node:')) return ['node']
  return matchesIn(specifier, /^((?:@[\w.-]+\/)?\w[\w.-]*)(?:\/|$)/g)
}

/** The packages of which a file reads or runs a file by its path. */
function packagesReadBy(file: SourceFile): readonly string[] {
  const texts = file.nodes.flatMap(textOf)
  return texts.flatMap((text) => matchesIn(text, /^node_modules\/((?:@[\w.-]+\/)?\w[\w.-]*)\//g))
}

/** What a package of types describes; another package describes itself. */
function describedBy(name: string): string {
  const [, described = name] = /^@types\/(.+)$/.exec(name) ?? []
  return described
}

/** The imports of packages that are not listed, each with its file. */
export function unlistedImports(names: readonly string[], sources: Sources): readonly string[] {
  const listed = new Set([...names, ...names.map(describedBy)])
  return sources.flatMap((file) =>
    packagesOf(file)
      .filter((name) => !listed.has(name) && !isInstalledBeside(file, name, sources))
      .map((name) => `${file.path}: ${name}`),
  )
}

/** Whether a file in the same folder names the package with a version: it installs it elsewhere. */
function isInstalledBeside({ path }: SourceFile, name: string, sources: Sources): boolean {
  const beside = sources.filter((file) => dirname(file.path) === dirname(path))
  return beside.some(({ text }) => text.includes(` ${name}@`))
}
