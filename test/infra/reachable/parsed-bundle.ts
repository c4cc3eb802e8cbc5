import type { ESTree } from 'vite'
import { parseSource } from '../../support/source-file.ts'

export type Node = ESTree.Node
export type Expression = Node | null | undefined

export function nameOf(node: Node): unknown {
  return node.type === 'Identifier' ? node.name : node.type === 'Literal' ? node.value : undefined
}

export function isMember(node: Node, name: string): node is ESTree.MemberExpression {
  return node.type === 'MemberExpression' && nameOf(node.property) === name
}

/** Each module's code follows a comment with its path. */
export function openBundle(code: string) {
  const { program, nodes: all } = parseSource('bundle.js', code)
  const names = new Set(all.map(nameInside))
  const nodes = all.filter((node) => !names.has(node))
  const modules = [...code.matchAll(/^\/\/ (\S+\.ts)$/gm)]
  const moduleAt = ({ start }: Node) => modules.findLast(({ index }) => index <= start)?.[1] ?? ''
  const topLevel = new Map(
    program.body.flatMap(declaredBy).map((declared) => [declared.name, declared]),
  )
  // Only constants: a variable may be assigned again.
  const constants = nodes.flatMap((node) =>
    node.type === 'VariableDeclaration' && node.kind === 'const' ? declaredBy(node) : [],
  )
  const homeOf = ({ start, end }: Node) =>
    program.body.find((home) => home.start <= start && end <= home.end)
  return {
    nodes,
    calls: nodes.filter((node) => node.type === 'CallExpression'),
    moduleAt,
    /** The name of the declaration at the top level that has the node. */
    homeNameOf: (node: Node) => {
      const home = homeOf(node)
      return home ? declaredBy(home)[0]?.name : undefined
    },
    isOfTable: (node: Node) => moduleAt(node).startsWith('shared/table/'),
    /** Undefined for local and foreign names. */
    moduleOf: (name: unknown) => {
      const declared = topLevel.get(String(name))
      return declared && moduleAt(declared.at)
    },
    textOf: ({ start, end }: Node) => code.slice(start, end),
    /**
     * The value of a name: of the constant declared around it, or of a declaration at the top
     * level.
     */
    valueOf: (identifier: Node) => {
      const name = String(nameOf(identifier))
      const local = constants.filter(
        (constant) => constant.name === name && homeOf(constant.at) === homeOf(identifier),
      )
      return topLevel.get(name)?.value ?? (local.length === 1 ? local[0]?.value : undefined)
    },
  }
}

/** The name of a member or a property refers to no variable. */
function nameInside(node: Node): unknown {
  if (node.type === 'MemberExpression' && !node.computed) return node.property
  return node.type === 'Property' && !node.computed ? node.key : undefined
}

type Declared = { readonly name: string; readonly at: Node; readonly value: Node | undefined }

function declaredBy(at: Node): readonly Declared[] {
  if (at.type === 'FunctionDeclaration') return at.id ? [{ name: at.id.name, at, value: at }] : []
  return at.type === 'VariableDeclaration'
    ? at.declarations.map(({ id, init }) => ({
        name: String(nameOf(id)),
        at,
        value: init ?? undefined,
      }))
    : []
}

export type Bundle = ReturnType<typeof openBundle>
