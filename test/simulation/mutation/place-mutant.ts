import { basename } from 'node:path/posix'
import type { ESTree } from 'vite'
import type { SourceFile } from '../../support/source-file.ts'
import type { Mutant } from './mutant.ts'
import { fits, type Place, placesIn, treeOf } from './shape.ts'

/** A file of the gateway as it is, and its text with the mutant in it. */
export type Placed = { readonly path: string; readonly original: string; readonly mutated: string }

type Splice = { readonly start: number; readonly end: number; readonly by: string }

const namesIn = (statement: ESTree.Node): readonly string[] => {
  if (statement.type === 'ExportNamedDeclaration') return statement.declaration ? namesIn(statement.declaration) : []
  if (statement.type === 'FunctionDeclaration' || statement.type === 'ClassDeclaration') {
    return statement.id ? [statement.id.name] : []
  }
  if (statement.type !== 'VariableDeclaration') return []
  return statement.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []))
}

const declarationsOf = (sources: readonly SourceFile[], symbol: string) =>
  sources.flatMap((file) =>
    file.program.body
      .filter((statement) =>
        namesIn(statement).some((name) => symbol === name || symbol === `${basename(file.path, '.ts')}/${name}`),
      )
      .map((node) => ({ file, node })),
  )

const isStatement = ({ type }: ESTree.Node) => /Statement$|Declaration$/.test(type)

/** The node with what says nothing without it: `await`, parentheses, the `if` whose whole condition it is. */
const whole = ({ node, around: [parent, ...around] }: Place): Place => {
  const goes =
    parent?.type === 'AwaitExpression' ||
    parent?.type === 'ParenthesizedExpression' ||
    parent?.type === 'ExpressionStatement' ||
    (parent?.type === 'IfStatement' && parent.test === node && !parent.alternate)
  return parent && goes ? whole({ node: parent, around }) : { node, around: parent ? [parent, ...around] : [] }
}

const neighboursOf = (node: ESTree.Node, parent: ESTree.Node | undefined): readonly ESTree.Node[] => {
  if (parent?.type === 'LogicalExpression') return [parent.left, parent.right]
  return Object.values(parent ?? {}).find((value) => Array.isArray(value) && value.includes(node)) ?? []
}

const dropOf = (text: string, place: Place): Splice => {
  const { node, around } = whole(place)
  const neighbours = neighboursOf(node, around[0])
  const at = neighbours.indexOf(node)
  const [before, after] = [neighbours[at - 1], neighbours[at + 1]]
  if (isStatement(node)) return { start: node.start, end: node.end, by: at < 0 ? '{}' : '' }
  if (at < 0) throw new Error(`a ${node.type} of a ${around[0]?.type} cannot be dropped`)
  if (after) return { start: node.start, end: after.start, by: '' }
  if (before) return { start: before.end, end: node.end, by: '' }
  const comma = /^\s*,/.exec(text.slice(node.end))
  return { start: node.start, end: node.end + (comma?.[0].length ?? 0), by: '' }
}

/** The new code, in which each hole is filled by what the hole of the same number was found to hold. */
const filled = (by: string, text: string, held: readonly (readonly ESTree.Node[])[]): string => {
  const texts = held.map((nodes) => text.slice(nodes[0]?.start, nodes.at(-1)?.end ?? 0))
  return by.replaceAll(/(\.{3})?(?<![\w$])_(?![\w$])/g, () => texts.shift() ?? '')
}

const TO_DO =
  'If that code was renamed or rewritten, address it anew in test/simulation/mutants. If what it guarded is guarded ' +
  'elsewhere, let the mutant go there; if nothing is left to guard, remove it'

/** Breaks the one place that a mutant names. Throws, and says what to do, unless there is exactly one. */
export const placeMutant = (sources: readonly SourceFile[], { name, symbol, edit }: Mutant): Placed => {
  const [code = '', by] = edit.startsWith('drop ') ? [edit.slice(5)] : edit.split(' -> ')
  const fail = (problem: string) => new Error(`mutant "${name}": ${problem}. ${TO_DO}.`)
  const declared = declarationsOf(sources, symbol)
  if (declared.length === 0) throw fail(`nothing is called ${symbol}`)

  const shape = treeOf(code)
  const found = declared.flatMap(({ file, node }) =>
    placesIn(node)
      .map((place) => ({ file, place, held: [] }))
      .filter(({ place, held }) => place.node.type !== 'ParenthesizedExpression' && fits(shape, place.node, held)),
  )
  const [only, ...others] = found
  const files = declared.map(({ file }) => file.path).join(', ')
  if (!only || others.length > 0) throw fail(`${code} is ${found.length} times in ${symbol} (${files}), not once`)

  const { file, place, held } = only
  const { start, end } = place.node
  const splice = by === undefined ? dropOf(file.text, place) : { start, end, by: filled(by, file.text, held) }
  const mutated = file.text.slice(0, splice.start) + splice.by + file.text.slice(splice.end)
  return { path: file.path, original: file.text, mutated }
}
