import type { ESTree } from 'vite'
import { allAccess, type TableAccess, type TableAction } from '../../../shared/table/access.ts'
import * as keys from '../../../shared/table/keys.ts'
import { type IndexName, TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import type { Table } from '../../../shared/table/table.ts'
import { UPDATES } from './fields-of-updates.ts'
import {
  type Bundle,
  type Expression,
  isMember,
  type Node,
  nameOf,
  openBundle,
} from './parsed-bundle.ts'

export const KEY_BUILDERS: ReadonlyMap<string, keys.Partition> = new Map(
  Object.entries(keys).flatMap(([name, member]) => {
    if (name === 'rowKeysOf' || name === 'pkPrefix' || name.startsWith('is')) return []
    const built: unknown =
      typeof member === 'function' ? Reflect.apply(member, undefined, ['a', '1', 'c']) : member
    const [first]: readonly unknown[] = Array.isArray(built) ? built : [built]
    const pk: unknown = Object(first)['pk'] ?? first
    const kind = keys.PARTITIONS.find(
      (partition) => typeof pk === 'string' && pk.startsWith(keys.pkPrefix(partition)),
    )
    return kind === undefined ? [] : [[name, kind] as const]
  }),
)

type AccessPoint = (bundle: Bundle, args: readonly Node[]) => TableAccess

export const ACCESS_POINTS: Readonly<Record<string, AccessPoint>> = {
  put: byKey('PutItem'),
  replaceRow: byKey('PutItem'),
  update: byKey('UpdateItem'),
  updateFields: byKey('UpdateFields'),
  remove: byKey('DeleteItem'),
  guard: byKey('ConditionCheckItem'),
  listItems: byList,
  itemPages: byList,
  mergedPages: byRange(1),
  queryAll: byRange(1),
  queryPages: byRange(1),
  readMany: (bundle, args) => byKey('BatchGetItem')(bundle, args.slice(1)),
}

/** Throws for a key that no key builder makes, because its kind is unknown. */
export function reachableAccess(code: string) {
  const bundle = openBundle(code)
  const throughAccessPoints = Object.entries(ACCESS_POINTS).flatMap(([name, accessPoint]) =>
    throughAccessPoint(bundle, name, accessPoint),
  )
  const table = allAccess(...throughAccessPoints, ...throughPort(bundle))
  return { table, updates: updatesIn(bundle) }
}

/** The kinds of the item of each update, by `file: declaration`, in the order of the code. */
export type ReachableUpdates = ReadonlyMap<string, readonly (readonly keys.Partition[])[]>

function updatesIn(bundle: Bundle) {
  const calls = bundle.calls.filter(
    (call) => UPDATES.includes(String(nameOf(call.callee))) && !bundle.isOfTable(call),
  )
  const places = Map.groupBy(
    calls.toSorted((a, b) => a.start - b.start),
    (call) => `${bundle.moduleAt(call)}: ${bundle.homeNameOf(call) ?? ''}`,
  )
  return new Map(
    [...places].map(([place, inPlace]) => [
      place,
      inPlace.map(({ arguments: [key] }) => kindsOf(bundle, key)),
    ]),
  )
}

function throughAccessPoint(bundle: Bundle, name: string, accessPoint: AccessPoint) {
  if (!bundle.moduleOf(name)?.startsWith('shared/table/')) return []
  const calls = bundle.calls.filter(
    ({ callee }) => callee.type === 'Identifier' && callee.name === name,
  )
  const mentions = bundle.nodes.filter((node) => node.type === 'Identifier' && node.name === name)
  // The declaration of the access point mentions its name once.
  if (mentions.length > calls.length + 1)
    throw new Error(`${name} is handed on as a value: its use cannot be followed`)
  return calls.map((call) => accessBy(bundle, call, accessPoint))
}

function accessBy(bundle: Bundle, call: ESTree.CallExpression, accessPoint: AccessPoint) {
  if (bundle.isOfTable(call)) return {}
  try {
    return accessPoint(bundle, call.arguments)
  } catch (cause) {
    throw new Error(`${bundle.moduleAt(call)}: ${bundle.textOf(call)}: ${String(cause)}`, { cause })
  }
}

const METHODS: Readonly<Record<keyof Table, AccessPoint>> = {
  get: (bundle, args) => byKey(args.length > 1 ? 'GetFields' : 'GetItem')(bundle, args),
  getFields: byKey('GetFields'),
  getMany: (bundle, args) =>
    byKey(args.length > 2 ? 'BatchGetFields' : 'BatchGetItem')(bundle, args),
  query: byRange(0),
  write: bySteps,
  transact: bySteps,
}

function throughPort(bundle: Bundle) {
  const used = bundle.calls.flatMap((call) => {
    const { callee } = call
    return callee.type === 'MemberExpression' && isMember(callee.object, 'table')
      ? [{ call, callee }]
      : []
  })
  const destructured = bundle.nodes.flatMap((node) =>
    node.type === 'ObjectPattern'
      ? node.properties.filter((property) => 'key' in property && nameOf(property.key) === 'table')
      : [],
  )
  const otherUses = bundle.nodes.filter(
    (node) => isMember(node, 'table') && !used.some(({ callee }) => callee.object === node),
  )
  const lost = [...otherUses, ...destructured].find((node) => !bundle.isOfTable(node))
  if (lost)
    throw new Error(
      `the table is handed on in ${bundle.moduleAt(lost)}: what is reached is unknown`,
    )
  return used.map(({ call, callee }) => {
    const method = nameOf(callee.property)
    if (!isMethod(method)) throw new Error(`the table has no ${String(method)}`)
    return accessBy(bundle, call, METHODS[method])
  })
}

function isMethod(name: unknown): name is keyof Table {
  return typeof name === 'string' && name in METHODS
}

function byKey(action: TableAction): AccessPoint {
  return (bundle, [key]) => ({ [action]: kindsOf(bundle, key) })
}

function kindsOf(bundle: Bundle, node: Expression): readonly keys.Partition[] {
  const built = node && builtBy(bundle, node)
  if (built) return [built]
  const sources = node && sourcesOf(node, bundle)
  if (!sources) throw new Error('what is touched is unknown')
  return sources.flatMap((source) => kindsOf(bundle, source))
}

function builtBy({ moduleOf }: Bundle, node: Node) {
  const named = node.type === 'CallExpression' ? node.callee : node
  if (moduleOf(nameOf(named)) !== 'shared/table/keys.ts') return undefined
  const [kind] =
    node.type === 'CallExpression' && nameOf(named) === 'rowKeysOf' ? node.arguments : []
  const literalIn = kind && nameOf(kind)
  return kind?.type === 'Literal' && isPartition(literalIn)
    ? literalIn
    : KEY_BUILDERS.get(String(nameOf(named)))
}

function isPartition(text: unknown): text is keys.Partition {
  return keys.PARTITIONS.some((partition) => partition === text)
}

function sourcesOf(node: Node, { valueOf }: Bundle) {
  const { type } = node
  if (type === 'Identifier') {
    const value = valueOf(node)
    // Keys that are pushed to an empty list cannot be followed.
    const isEmptyList = value?.type === 'ArrayExpression' && value.elements.length === 0
    return isEmptyList ? undefined : [value]
  }
  if (type === 'ArrowFunctionExpression') return [node.body]
  if (type === 'FunctionDeclaration') return returnedBy(node)
  if (type === 'ConditionalExpression') return [node.consequent, node.alternate]
  if (type === 'ArrayExpression') return node.elements
  if (type === 'SpreadElement') return [node.argument]
  if (type === 'MemberExpression') return isMember(node, 'pk') ? [node.object] : undefined
  if (type !== 'CallExpression') return undefined
  if (node.callee.type === 'Identifier') return [node.callee]
  if (isMember(node.callee, 'map') && isWrapping(node.arguments[0])) return [node.callee.object]
  return isMember(node.callee, 'map') || isMember(node.callee, 'flatMap')
    ? [node.arguments[0]]
    : undefined
}

function returnedBy({ body }: ESTree.Function) {
  const statements = body?.body ?? []
  const returned = statements.at(-1)
  const isPlain = statements.slice(0, -1).every(({ type }) => type === 'VariableDeclaration')
  return returned?.type === 'ReturnStatement' && isPlain ? [returned.argument] : undefined
}

/** Whether the expression is `(pk) => [pk]`, which puts each key into a separate list. */
function isWrapping(node: Expression) {
  if (node?.type !== 'ArrowFunctionExpression' || node.body.type !== 'ArrayExpression') return false
  const [param, element] = [node.params[0], node.body.elements[0]]
  return (
    param !== undefined &&
    element !== null &&
    element !== undefined &&
    nameOf(param) === nameOf(element)
  )
}

/** `{index}` or, on the table itself, `{partition}`. */
function byRange(argument: 0 | 1): AccessPoint {
  return (bundle, args) =>
    allAccess(
      ...shapesOf(bundle, args[argument]).map((shape): TableAccess => {
        const index = shape.get('index')
        if (index) return { indexes: [literal(index, isIndex)] }
        const kinds = kindsOf(bundle, shape.get('partition') ?? shape.get('partitions'))
        return shape.has('fields') ? { QueryFields: kinds } : { Query: kinds }
      }),
    )
}

type Shape = ReadonlyMap<unknown, Node>

/**
 * All options that an expression may give: a literal, a choice of literals, or a spread of them.
 */
function shapesOf(bundle: Bundle, node: Expression): readonly Shape[] {
  if (node?.type === 'ObjectExpression') {
    return node.properties.reduce<readonly Shape[]>(
      (shapes, property) => {
        const spread = property.type === 'SpreadElement'
        const addedShapes = spread
          ? shapesOf(bundle, property.argument)
          : [new Map([[nameOf(property.key), property.value]])]
        return shapes.flatMap((shape) =>
          addedShapes.map((addedShape) => new Map([...shape, ...addedShape])),
        )
      },
      [new Map()],
    )
  }
  if (node?.type === 'ConditionalExpression') {
    return [...shapesOf(bundle, node.consequent), ...shapesOf(bundle, node.alternate)]
  }
  if (node?.type === 'LogicalExpression' && node.operator === '&&')
    return [new Map(), ...shapesOf(bundle, node.right)]
  if (node?.type === 'Identifier') return shapesOf(bundle, bundle.valueOf(node))
  throw new Error('the options of a query are not written out')
}

function literal<Name extends string>(node: Expression, is: (text: unknown) => text is Name) {
  if (node?.type === 'Literal' && is(node.value)) return node.value
  throw new Error('an index or a kind is not a literal')
}

function isIndex(text: unknown): text is IndexName {
  return typeof text === 'string' && text in TABLE_SCHEMA.indexes
}

/** Steps need no further access: the access points that build them have stated it. */
function bySteps(): TableAccess {
  return {}
}

/** `{index, kind}`: keys from the index, items from the table. */
function byList(bundle: Bundle, [, options]: readonly Node[]) {
  return allAccess(
    ...shapesOf(bundle, options).map((shape) => ({
      BatchGetItem: [literal(shape.get('kind'), isPartition)],
      indexes: [literal(shape.get('index'), isIndex)],
    })),
  )
}
