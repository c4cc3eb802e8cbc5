import type { ESTree } from 'vite'
import { parseSource } from '../../support/source-file.ts'

/** An unminified bundle of esbuild: one file in which every module's code stands below a comment with its path. */
export type Bundle = {
  /** The module that declares a name at its top level; undefined for local and foreign names. */
  moduleOf(name: string): string | undefined
  moduleAt(node: ESTree.Node): string
  textOf(node: ESTree.Node): string
  /** What an identifier stands for: the constant declared around its place, or at the top level. */
  valueOf(identifier: ESTree.Node): ESTree.Node | undefined
  /** The return statements of a function's body, without those of functions inside it. */
  returnsOf(body: ESTree.Node): readonly ESTree.ReturnStatement[]
  /** Calls of a top-level function, and how often it is mentioned otherwise. */
  usesOf(name: string): { readonly calls: readonly ESTree.CallExpression[]; readonly others: number }
  /** The calls that have a node as their first argument. */
  callsWith(argument: ESTree.Node): readonly ESTree.CallExpression[]
  /** Calls of the methods of a port, `deps.port.method(…)`, and the places that do anything else with the port. */
  portUses(port: string): PortUses
}

type PortUses = {
  readonly calls: readonly { readonly method: string; readonly call: ESTree.CallExpression }[]
  readonly others: readonly ESTree.Node[]
}

const isNode = (value: unknown): value is ESTree.Node => typeof value === 'object' && value !== null && 'type' in value

/** Names of members and of properties name nothing by themselves. */
const nameInside = (node: ESTree.Node): unknown => {
  if (node.type === 'MemberExpression' && !node.computed) return node.property
  return node.type === 'Property' && !node.computed ? node.key : undefined
}

const childrenOf = (node: ESTree.Node): readonly ESTree.Node[] => {
  const name = nameInside(node)
  return Object.values(node)
    .flat()
    .filter(isNode)
    .filter((child) => child !== name)
}

const descendants = (node: ESTree.Node): readonly ESTree.Node[] => [node, ...childrenOf(node).flatMap(descendants)]

const MODULE = /^\/\/ (\S+\.ts)$/gm

type Declared = { readonly name: string; readonly node: ESTree.Node; readonly value: ESTree.Node | undefined }

const declaredBy = (statement: ESTree.Node): readonly Declared[] => {
  if (statement.type === 'VariableDeclaration') {
    return statement.declarations.flatMap(({ id, init }) =>
      id.type === 'Identifier' ? [{ name: id.name, node: statement, value: init ?? undefined }] : [],
    )
  }
  const isNamed = statement.type === 'FunctionDeclaration' || statement.type === 'ClassDeclaration'
  return isNamed && statement.id ? [{ name: statement.id.name, node: statement, value: statement }] : []
}

const around = (outer: ESTree.Node, { start, end }: ESTree.Node) => outer.start <= start && end <= outer.end
const isNamed = (node: ESTree.Node, name: string) => node.type === 'Identifier' && node.name === name
const isFunction = ({ type }: ESTree.Node) => type === 'ArrowFunctionExpression' || type.startsWith('Function')

const returnsOf = (node: ESTree.Node): readonly ESTree.ReturnStatement[] => {
  if (node.type === 'ReturnStatement') return [node]
  return childrenOf(node).flatMap((child) => (isFunction(child) ? [] : returnsOf(child)))
}

const nameOf = (node: ESTree.Node): unknown => {
  if (node.type === 'Identifier') return node.name
  return node.type === 'Literal' ? node.value : undefined
}

const isMember = (node: ESTree.Node, name: string): node is ESTree.MemberExpression =>
  node.type === 'MemberExpression' && nameOf(node.property) === name

const portUses = (mentioned: readonly ESTree.Node[], port: string): PortUses => {
  const calls = mentioned.flatMap((node) => {
    if (node.type !== 'CallExpression' || node.callee.type !== 'MemberExpression') return []
    const { object, property } = node.callee
    return isMember(object, port) ? [{ method: String(nameOf(property)), call: node, object }] : []
  })
  const called = new Set<ESTree.Node>(calls.map(({ object }) => object))
  const taken = mentioned.flatMap((node) =>
    node.type === 'ObjectPattern'
      ? node.properties.filter((property) => 'key' in property && nameOf(property.key) === port)
      : [],
  )
  return { calls, others: [...mentioned.filter((node) => isMember(node, port) && !called.has(node)), ...taken] }
}

/** Parses a bundle for questions about who uses what. */
export const parseBundle = (code: string): Bundle => {
  const program = parseSource('bundle.js', code).nodes.find(({ type }) => type === 'Program')
  if (program?.type !== 'Program') throw new Error('a bundle without a program')
  const modules = [...code.matchAll(MODULE)].map(({ index, 1: path = '' }) => ({ index, path }))
  const moduleAt = ({ start }: ESTree.Node) => modules.findLast(({ index }) => index <= start)?.path ?? ''
  const topLevel = new Map(program.body.flatMap(declaredBy).map((declared) => [declared.name, declared]))
  const mentioned = descendants(program)
  const calls = mentioned.filter((node) => node.type === 'CallExpression')
  // A variable that is assigned again stands for more than its first value.
  const constants = mentioned.flatMap((node) =>
    node.type === 'VariableDeclaration' && node.kind === 'const' ? declaredBy(node) : [],
  )
  const homeOf = (node: ESTree.Node) => program.body.find((statement) => around(statement, node))
  return {
    moduleOf: (name) => {
      const declared = topLevel.get(name)
      return declared && moduleAt(declared.node)
    },
    moduleAt,
    textOf: ({ start, end }) => code.slice(start, end),
    valueOf: (identifier) => {
      if (identifier.type !== 'Identifier') return undefined
      const { name } = identifier
      const declared = topLevel.get(name)
      if (declared) return declared.value
      const home = homeOf(identifier)
      const local = constants.filter((constant) => constant.name === name && homeOf(constant.node) === home)
      return local.length === 1 ? local[0]?.value : undefined
    },
    returnsOf,
    usesOf: (name) => {
      const called = calls.filter(({ callee }) => isNamed(callee, name))
      const mentions = mentioned.filter((node) => isNamed(node, name)).length
      // Its own declaration mentions it once.
      return { calls: called, others: mentions - called.length - 1 }
    },
    callsWith: (argument) => calls.filter((call) => call.arguments[0] === argument),
    portUses: (port) => portUses(mentioned, port),
  }
}
