import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { type ESTree, parseSync } from 'vite'

export const PROJECT_ROOT = join(import.meta.dirname, '../..')

export function projectText(path: string) {
  return readFileSync(join(PROJECT_ROOT, path), 'utf8')
}

export function childrenOf(node: ESTree.Node) {
  const children: ESTree.Node[] = []
  for (const value of Object.values(node)) {
    if (Array.isArray(value)) children.push(...value.filter(isNode))
    else if (isNode(value)) children.push(value)
  }
  return children
}

function isNode(value: unknown): value is ESTree.Node {
  return typeof value === 'object' && value !== null && 'type' in value
}

type Import = {
  readonly from: string
  /** For a relative import, the path from the project's root. */
  readonly path: string | undefined
  readonly typeOnly: boolean
}

/** The file is parsed, so that comments and strings cannot fool the architecture test. */
export type SourceFile = {
  /** The path from the project's root, with slashes. */
  readonly path: string
  readonly text: string
  readonly lineCount: number
  readonly imports: readonly Import[]
  readonly program: ESTree.Program
  readonly nodes: readonly ESTree.Node[]
  readonly comments: readonly string[]
  readonly exports: readonly { readonly name: string; readonly isType: boolean }[]
}

export function parseSource(path: string, text: string) {
  const { program, comments, errors, module } = parseSync(path, text)
  if (errors.length > 0) throw new Error(`${path}: ${errors[0]?.message ?? 'cannot be parsed'}`)
  const nodes = withDescendants(program)
  return {
    path,
    text,
    lineCount: text.trimEnd().split('\n').length,
    imports: nodes.map((node) => importIn(path, node)).filter((found) => found !== undefined),
    program,
    nodes,
    comments: comments.map(({ value }) => value),
    exports: module.staticExports.flatMap(({ entries }) =>
      entries.map(({ exportName, isType }) => ({ name: exportName.name ?? 'default', isType })),
    ),
  }
}

/** Fills one list, because a bundle has a hundred thousand nodes. */
function withDescendants(node: ESTree.Node, found: ESTree.Node[] = []) {
  found.push(node)
  for (const child of childrenOf(node)) withDescendants(child, found)
  return found
}

/** `import`, `export … from`, `import('…')` as an expression and as a type. */
function importIn(file: string, node: ESTree.Node) {
  if (node.type === 'ImportDeclaration') {
    const isType = (one: ESTree.ImportDeclarationSpecifier) =>
      'importKind' in one && one.importKind === 'type'
    const noValue = node.specifiers.length > 0 && node.specifiers.every(isType)
    return importOf(file, node.source.value, node.importKind === 'type' || noValue)
  }
  if (node.type === 'ExportAllDeclaration' || node.type === 'ExportNamedDeclaration') {
    return node.source ? importOf(file, node.source.value, node.exportKind === 'type') : undefined
  }
  if (node.type === 'ImportExpression' && node.source.type === 'Literal') {
    return importOf(file, String(node.source.value), false)
  }
  return node.type === 'TSImportType' ? importOf(file, node.source.value, true) : undefined
}

function importOf(file: string, from: string, typeOnly: boolean) {
  return {
    from,
    path: from.startsWith('.') ? posix.join(dirname(file), from) : undefined,
    typeOnly,
  }
}

export function sourcesIn(...folders: readonly string[]) {
  return folders.flatMap((folder) =>
    readdirSync(join(PROJECT_ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
      .map((entry) => posix.join(entry.parentPath.slice(PROJECT_ROOT.length + 1), entry.name))
      .toSorted()
      .map((path) => parseSource(path, projectText(path))),
  )
}

export function at({ text }: SourceFile, { start }: ESTree.Node, what: string) {
  return `line ${text.slice(0, start).split('\n').length}: ${what}`
}

/** Whether the file has a test of that title, as it is written there. */
export function hasTest(file: string, title: string) {
  if (!existsSync(join(PROJECT_ROOT, file))) return false
  const text = projectText(file)
  return ["'", '"', '`'].some((quote) => text.includes(`${quote}${title}${quote}`))
}
