import { basename } from 'node:path/posix'
import type { ESTree } from 'vite'
import { isCode, type Rule } from './import-rules.ts'
import { at, type SourceFile } from './support/source-file.ts'

const FUNCTION = /^(Arrow)?Function(Declaration|Expression)$/

const used = new WeakMap<ESTree.Node, ReadonlySet<string>>()

const MAX_COLUMNS = 100

const GENERATED = 'docs/examples/gateway-schemas.ts'

const MAX_FUNCTION_LINES = 60

export const SHAPE_RULES = {
  'no constant at the top level holds a function': functionsAreDeclared,
  'the main export stands first, and helpers below their first user': readsDownwards,
  'a line has at most 100 columns, except for a text that cannot be broken': linesAreShort,
  'a function has at most 60 lines': functionsAreShort,
} as const satisfies Readonly<Record<string, Rule>>

/**
 * Tools and readers enter a function declaration. They cannot enter a constant that holds a
 * function.
 */
function functionsAreDeclared(file: SourceFile) {
  return file.program.body.flatMap((statement) =>
    declaratorsOf(statement).flatMap((declarator) =>
      declarator.init && FUNCTION.test(withoutWrapping(declarator.init).type)
        ? [at(file, declarator, 'a constant that holds a function')]
        : [],
    ),
  )
}

function declaratorsOf(statement: ESTree.Node) {
  const declared = declarationOf(statement)
  return declared.type === 'VariableDeclaration' ? declared.declarations : []
}

function declarationOf(statement: ESTree.Node) {
  return statement.type === 'ExportNamedDeclaration' && statement.declaration
    ? statement.declaration
    : statement
}

function withoutWrapping(node: ESTree.Node): ESTree.Node {
  return /^(ParenthesizedExpression|TS\w+Expression)$/.test(node.type) && 'expression' in node
    ? withoutWrapping(node.expression as ESTree.Node)
    : node
}

/** A test tells its arrangement first, so its helpers may stand above it. */
function readsDownwards(file: SourceFile) {
  if (file.path.endsWith('.test.ts')) return []
  const { body } = file.program
  const functions = body.flatMap((statement, place) => {
    const node = declarationOf(statement)
    if (node.type !== 'FunctionDeclaration' || !node.id) return []
    return [{ node, place, name: node.id.name, isExported: node !== statement }]
  })
  const exported = functions.filter(({ isExported }) => isExported)
  const main = exported.find(({ name }) => isNamedLike(file, name)) ?? exported[0]
  if (main && main !== functions[0]) return [at(file, main.node, `${main.name} is not first`)]
  return functions.flatMap(({ node, place, name, isExported }) => {
    const users = body.filter((by, other) => other !== place && namesUsedIn(by).has(name))
    // A table of functions may stand below them.
    const isOfFunctions = users.every((by) => declarationOf(by).type === 'FunctionDeclaration')
    const [first] = users
    return first && first.start > node.start && isOfFunctions && !isExported
      ? [at(file, node, `${name} stands above its first user`)]
      : []
  })
}

function isNamedLike({ path }: SourceFile, name: string) {
  return (
    basename(path)
      .replace(/\.tsx?$/, '')
      .replaceAll('-', '') === name.toLowerCase()
  )
}

function namesUsedIn(node: ESTree.Node) {
  const known = used.get(node)
  if (known) return known
  const names = new Set<string>()
  const collect = (value: unknown) => {
    if (typeof value !== 'object' || value === null) return
    if ('type' in value && value.type === 'Identifier' && 'name' in value) {
      names.add(String(value.name))
    }
    for (const inner of Object.values(value)) collect(inner)
  }
  collect(node)
  used.set(node, names)
  return names
}

/** The formatter breaks code. It leaves comments, titles of tests and long texts as they are. */
function linesAreShort(file: SourceFile) {
  if (file.path === GENERATED) return []
  const unbreakable = file.nodes.flatMap(unbreakableIn)
  let start = 0
  return file.text.split('\n').flatMap((line, index) => {
    const [from, until] = [start, start + line.length]
    start = until + 1
    // An address in a comment is one word.
    const isOneWord = /^\W*\S+$/.test(line)
    const isAllowed = isOneWord || unbreakable.some((node) => node.start < until && node.end > from)
    return line.length <= MAX_COLUMNS || isAllowed
      ? []
      : [`line ${index + 1}: ${line.length} columns`]
  })
}

/**
 * Templates, patterns, imported paths and texts of a page; of a test the title, to be found by
 * search.
 */
function unbreakableIn(node: ESTree.Node): readonly ESTree.Node[] {
  if (node.type === 'TemplateLiteral' || node.type === 'JSXText') return [node]
  if (node.type === 'ImportDeclaration') return [node.source]
  if (node.type === 'Property') return node.key.type === 'Literal' ? [node.key] : []
  if (node.type === 'Literal') {
    return typeof node.value === 'string' && /\s/.test(node.value) ? [] : [node]
  }
  if (node.type !== 'CallExpression') return []
  const [title] = node.arguments
  return title?.type === 'Literal' && isTest(node.callee) ? [title] : []
}

function isTest(callee: ESTree.Node): boolean {
  if (callee.type === 'Identifier') return /^(it|test|describe)$/.test(callee.name)
  if (callee.type === 'MemberExpression') return isTest(callee.object)
  return callee.type === 'CallExpression' && isTest(callee.callee)
}

/** Each inner function is measured by itself. */
function functionsAreShort(file: SourceFile) {
  if (!isCode(file)) return []
  const functions = file.nodes.filter(({ type }) => FUNCTION.test(type))
  const breaks = ({ start, end }: ESTree.Node) => file.text.slice(start, end).split('\n').length - 1
  return functions.flatMap((node) => {
    const inner = functions.filter((other) => contains(node, other))
    const direct = inner.filter((other) => !inner.some((between) => contains(between, other)))
    const length = 1 + breaks(node) - direct.reduce((sum, other) => sum + breaks(other), 0)
    return length > MAX_FUNCTION_LINES ? [at(file, node, `a function of ${length} lines`)] : []
  })
}

function contains(outer: ESTree.Node, inner: ESTree.Node) {
  return outer !== inner && outer.start <= inner.start && inner.end <= outer.end
}
