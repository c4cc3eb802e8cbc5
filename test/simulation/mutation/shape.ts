import { type ESTree, parseSync } from 'vite'

/** A node, and those around it from the innermost to the outermost. */
export type Place = { readonly node: ESTree.Node; readonly around: readonly ESTree.Node[] }

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null

const isNode = (value: unknown): value is ESTree.Node => isObject(value) && 'type' in value

/** This node and every node in it, each before those inside it. */
export const placesIn = (node: ESTree.Node, around: readonly ESTree.Node[] = []): readonly Place[] => [
  { node, around },
  ...Object.values(node)
    .flat()
    .filter(isNode)
    .flatMap((child) => placesIn(child, [node, ...around])),
]

/** What a piece of code stands in to be read: as an expression, a property or spread of an object, a statement. */
const READINGS = [
  ['(', ')'],
  ['({', '})'],
  ['async () => { for (;;) {', '} }'],
] as const

/** The tree of a piece of code. Throws when it is none. */
export const treeOf = (code: string): ESTree.Node => {
  for (const [open, close] of READINGS) {
    const { program, errors } = parseSync('shape.ts', open + code + close)
    const end = open.length + code.length
    const whole = placesIn(program).find(({ node }) => node.start === open.length && node.end === end)
    if (errors.length === 0 && whole) return whole.node
  }
  throw new Error(`"${code}" is no expression, property or statement`)
}

/** Parentheses say nothing that the tree does not say. */
const bare = (value: unknown): unknown =>
  isNode(value) && value.type === 'ParenthesizedExpression' ? bare(value.expression) : value

const isHole = (value: unknown) => isNode(value) && value.type === 'Identifier' && value.name === '_'

const isRest = (value: unknown) => isNode(value) && value.type === 'SpreadElement' && isHole(value.argument)

/** Where a node stands and how it was spelt. */
const MEANS_NOTHING = new Set(['start', 'end', 'raw'])

/** Whether code has this shape. What stands at its holes is added to `held`, in their order. */
export const fits = (shape: unknown, code: unknown, held: (readonly ESTree.Node[])[]): boolean => {
  const [wanted, found] = [bare(shape), bare(code)]
  if (isHole(wanted)) return isNode(found) && held.push([found]) > 0
  if (Array.isArray(wanted) && Array.isArray(found)) {
    const fixed = isRest(wanted.at(-1)) ? wanted.length - 1 : wanted.length
    if (fixed === wanted.length ? found.length !== fixed : found.length < fixed) return false
    if (!wanted.slice(0, fixed).every((element, at) => fits(element, found[at], held))) return false
    return fixed === wanted.length || held.push(found.slice(fixed)) > 0
  }
  if (!isObject(wanted) || !isObject(found)) return wanted === found
  return Object.keys(wanted).every((key) => MEANS_NOTHING.has(key) || fits(wanted[key], found[key], held))
}
