import type { ESTree } from 'vite'
import { allAccess, type TableAccess, type TableAction } from '../../../shared/table/access.ts'
import * as keys from '../../../shared/table/keys.ts'
import { pkPrefix } from '../../../shared/table/keys.ts'
import { type IndexName, TABLE_SCHEMA } from '../../../shared/table/schema.ts'
import type { Table } from '../../../shared/table/table.ts'
import { type Bundle, parseBundle } from './parsed-bundle.ts'

/** What leads to the table: what each asks of it, and which argument says for what. */
type Door =
  | { readonly says: 'key'; readonly action: TableAction }
  /** `{index}` or, on the table itself, `{partition}`. */
  | { readonly says: 'range'; readonly argument: 0 | 1 }
  /** `{index, kind}`: keys from the index, items from the table. */
  | { readonly says: 'list' }
  /** Steps, which only the doors that build them can make. */
  | { readonly says: 'steps' }

/** Functions, by their names. */
export const DOORS: Readonly<Record<string, Door>> = {
  put: { says: 'key', action: 'PutItem' },
  update: { says: 'key', action: 'UpdateItem' },
  remove: { says: 'key', action: 'DeleteItem' },
  check: { says: 'key', action: 'ConditionCheckItem' },
  listItems: { says: 'list' },
  queryPages: { says: 'range', argument: 1 },
}

/** Methods of the port. */
const PORT_DOORS: Readonly<Record<keyof Table, Door>> = {
  get: { says: 'key', action: 'GetItem' },
  getMany: { says: 'key', action: 'BatchGetItem' },
  query: { says: 'range', argument: 0 },
  write: { says: 'steps' },
  transact: { says: 'steps' },
}

const isMethod = (name: string): name is keyof Table => name in PORT_DOORS

const TABLE = 'shared/table/'
const isPartition = (text: unknown): text is keys.Partition => keys.PARTITIONS.some((partition) => partition === text)
const isIndex = (text: unknown): text is IndexName => typeof text === 'string' && text in TABLE_SCHEMA.indexes

const partitionOf = (built: unknown): keys.Partition | undefined => {
  const pk = typeof built === 'object' && built !== null && 'pk' in built ? built.pk : built
  return keys.PARTITIONS.find((partition) => typeof pk === 'string' && pk.startsWith(pkPrefix(partition)))
}

/** What each builder of `table/keys.ts` builds: found by building one, so that a new builder needs no entry here. */
export const KEY_BUILDERS: ReadonlyMap<string, keys.Partition> = new Map(
  Object.entries(keys).flatMap(([name, member]) => {
    if (name === 'foundKey' || name === 'pkPrefix') return []
    const built: unknown = typeof member === 'function' ? Reflect.apply(member, undefined, ['a', 'b', 'c']) : member
    const partition = partitionOf(built)
    return partition === undefined ? [] : [[name, partition] as const]
  }),
)

type Expression = ESTree.Node | null | undefined

const memberName = ({ property }: ESTree.MemberExpression) =>
  property.type === 'Identifier' ? property.name : undefined

/** Names everything that an expression which gives keys can give; throws on what it cannot follow. */
class KeyKinds {
  private readonly bundle: Bundle
  private readonly where: string

  constructor(bundle: Bundle, call: ESTree.Node) {
    this.bundle = bundle
    this.where = `${bundle.moduleAt(call)}: ${bundle.textOf(call)}`
  }

  of(node: Expression): readonly keys.Partition[] {
    if (!node) return this.lost()
    const { type } = node
    if (type === 'Identifier') return this.builder(node) ?? this.of(this.bundle.valueOf(node))
    if (type === 'CallExpression') return this.called(node)
    if (type === 'ParenthesizedExpression') return this.of(node.expression)
    if (type === 'ArrowFunctionExpression') return this.of(node.body)
    if (type === 'BlockStatement') return this.bundle.returnsOf(node).flatMap(({ argument }) => this.of(argument))
    if (type === 'ConditionalExpression') return [...this.of(node.consequent), ...this.of(node.alternate)]
    if (type === 'ArrayExpression') return node.elements.flatMap((element) => this.of(element))
    if (type === 'SpreadElement') return this.of(node.argument)
    // The partition key of a key that was built.
    return type === 'MemberExpression' && memberName(node) === 'pk' ? this.of(node.object) : this.lost()
  }

  private lost(): never {
    throw new Error(`what is touched cannot be told in ${this.where}`)
  }

  private called({ callee, arguments: [first] }: ESTree.CallExpression): readonly keys.Partition[] {
    if (callee.type === 'Identifier') {
      if (this.bundle.moduleOf(callee.name) === `${TABLE}keys.ts` && callee.name === 'foundKey') {
        if (first?.type === 'Literal' && isPartition(first.value)) return [first.value]
        throw new Error(`a found key is not of one literal kind in ${this.where}`)
      }
      return this.of(callee)
    }
    const maps = callee.type === 'MemberExpression' ? memberName(callee) : undefined
    return maps === 'map' || maps === 'flatMap' ? this.of(first) : this.lost()
  }

  private builder({ name }: { readonly name: string }): readonly keys.Partition[] | undefined {
    const partition = this.bundle.moduleOf(name) === `${TABLE}keys.ts` ? KEY_BUILDERS.get(name) : undefined
    return partition && [partition]
  }
}

/** One way in which the options of a query can come out: its properties by name. */
type Shape = ReadonlyMap<string, ESTree.Node>

const propertyName = ({ key }: ESTree.ObjectProperty): string => {
  if (key.type === 'Identifier') return key.name
  if (key.type === 'Literal') return String(key.value)
  throw new Error('the options of a query have a name that is computed')
}

/** Every way in which an object can come out that is written out, chosen between, or spread from such ones. */
const shapesOf = (bundle: Bundle, node: Expression): readonly Shape[] => {
  if (node?.type === 'ObjectExpression') {
    return node.properties.reduce<readonly Shape[]>(
      (shapes, property) => {
        const added: readonly Shape[] =
          property.type === 'SpreadElement'
            ? shapesOf(bundle, property.argument)
            : [new Map([[propertyName(property), property.value]])]
        return shapes.flatMap((shape) => added.map((more) => new Map([...shape, ...more])))
      },
      [new Map()],
    )
  }
  if (node?.type === 'ConditionalExpression') {
    return [...shapesOf(bundle, node.consequent), ...shapesOf(bundle, node.alternate)]
  }
  if (node?.type === 'ParenthesizedExpression') return shapesOf(bundle, node.expression)
  if (node?.type === 'LogicalExpression') {
    const left: readonly Shape[] = node.operator === '&&' ? [new Map()] : shapesOf(bundle, node.left)
    return [...left, ...shapesOf(bundle, node.right)]
  }
  if (node?.type === 'Identifier') return shapesOf(bundle, bundle.valueOf(node))
  throw new Error(`the options of a query are not written out in ${node ? bundle.moduleAt(node) : 'a call'}`)
}

const literal = <Name extends string>(node: Expression, is: (text: unknown) => text is Name): Name => {
  if (node?.type === 'Literal' && is(node.value)) return node.value
  throw new Error('an index or a kind is not a literal')
}

const throughDoor = (bundle: Bundle, door: Door, call: ESTree.CallExpression): TableAccess => {
  const kinds = new KeyKinds(bundle, call)
  switch (door.says) {
    case 'steps':
      return {}
    case 'key':
      return { [door.action]: kinds.of(call.arguments[0]) }
    case 'range':
      return allAccess(
        ...shapesOf(bundle, call.arguments[door.argument]).map((shape): TableAccess => {
          const index = shape.get('index')
          return index ? { indexes: [literal(index, isIndex)] } : { Query: kinds.of(shape.get('partition')) }
        }),
      )
    case 'list':
      return allAccess(
        ...shapesOf(bundle, call.arguments[1]).map((shape): TableAccess => {
          const indexes = [literal(shape.get('index'), isIndex)]
          return { BatchGetItem: [literal(shape.get('kind'), isPartition)], indexes }
        }),
      )
  }
}

/** A WeakMap whose keys are tables keeps something with each, and reaches nothing. */
const isWeakKey = (bundle: Bundle, node: ESTree.Node): boolean =>
  bundle.callsWith(node).some(({ callee }) => {
    if (callee.type !== 'MemberExpression') return false
    const map = bundle.valueOf(callee.object)
    return map?.type === 'NewExpression' && map.callee.type === 'Identifier' && map.callee.name === 'WeakMap'
  })

const throughPort = (bundle: Bundle): readonly TableAccess[] => {
  const { calls, others } = bundle.portUses('table')
  const lost = others.find((node) => !bundle.moduleAt(node).startsWith(TABLE) && !isWeakKey(bundle, node))
  if (lost) throw new Error(`the table is handed on in ${bundle.moduleAt(lost)}: what is reached cannot be told`)
  return calls
    .filter(({ call }) => !bundle.moduleAt(call).startsWith(TABLE))
    .map(({ method, call }) => {
      if (!isMethod(method)) throw new Error(`the table has no ${method}`)
      return throughDoor(bundle, PORT_DOORS[method], call)
    })
}

/**
 * Which kinds of items, by which action, and which indexes the code of a bundle can reach. Every call that leads to the
 * table must name a key builder, or a constant or function that does: the first one that gives its key in another way
 * throws, since nobody could say what it touches.
 */
export const reachableTableAccess = (code: string): TableAccess => {
  const bundle = parseBundle(code)
  const accesses = Object.entries(DOORS).flatMap(([name, door]) => {
    if (!bundle.moduleOf(name)?.startsWith(TABLE)) return []
    const { calls, others } = bundle.usesOf(name)
    if (others > 0) throw new Error(`${name} is handed on as a value, so what is reached through it cannot be told`)
    return calls
      .filter((call) => !bundle.moduleAt(call).startsWith(TABLE))
      .map((call) => throughDoor(bundle, door, call))
  })
  return allAccess(...accesses, ...throughPort(bundle))
}
