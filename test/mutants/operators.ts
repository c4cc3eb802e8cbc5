import type { ESTree } from 'vite'
import { childrenOf } from '../support/source-file.ts'

/** One change of a file that breaks it: the text from `start` to `end` becomes `by`. */
export type Break = {
  readonly operator: string
  readonly start: number
  readonly end: number
  readonly by: string
}

/** Fields of one type that a line can confuse. */
const ALIKE = [
  ['netMinor', 'notionalMinor', 'providerFeeMinor', 'markupMinor'],
  ['grossMinor', 'feeMinor'],
  ['availableMinor', 'settledMinor', 'paidOutMinor', 'inSettlementMinor'],
  ['reversedCount', 'undoneCount'],
  ['periodStart', 'periodEnd'],
  ['start', 'end'],
  ['from', 'until'],
  ['createdAt', 'paidAt', 'expiresAt', 'dueAt'],
  ['providerPaymentId', 'paymentRequestId'],
  ['clientId', 'endpointId', 'deliveryId', 'eventId'],
]

const BORDERS = new Map(Object.entries({ '<': '<=', '<=': '<', '>': '>=', '>=': '>' }))
const REVERSED = new Map(
  Object.entries({ '<': '>', '<=': '>=', '>': '<', '>=': '<=', '===': '!==', '!==': '===' }),
)
const SUMS = new Map(Object.entries({ '*': '/', '/': '*', '+=': '-=', '-=': '+=' }))
const CHOICES = new Map(Object.entries({ min: 'max', max: 'min', every: 'some', some: 'every' }))
/** Their arguments may stand in either order. */
const EITHER_WAY = /^(plus|min|max|smaller|earlier|later)$/
const TABLE_BORDERS = new Map(Object.entries({ below: 'atMost', atMost: 'below' }))
const ALL_FOR_ANY = new Map(Object.entries({ all: 'any', any: 'all' }))

/** A condition that every stored item satisfies. */
const ALWAYS = `({ test: 'present', field: 'pk' })`
/** What makes a step, what guards it at most, and which of its arguments its condition is. */
const STEPS = new Map(
  Object.entries({
    put: ['undefined', 2],
    update: ['undefined', 2],
    updateFields: [ALWAYS, 2],
    guard: [ALWAYS, 1],
    remove: [ALWAYS, 1],
  } as const),
)
const CHANGES = /^(set|setIfAbsent|add|remove)$/
const KEYS = /(Key|Pk|^owners?Of|^shardOf)$/
/** Texts for people and counts of used units break no promise. */
const TELLING = /(^|\.)(log|metrics)\.\w+$|^note(Used|Units)$/
const BOUND = /^[A-Z][A-Z_0-9]*$/
/** How much a step reads, tries, names or keeps at most: another number changes what it costs, and no answer. */
const WORK =
  /^(SLICES|PAGE|\w+_PAGE|PAGE_\w+|\w+_(OF_A|A|OF)_PAGE|CONCURRENCY|SIDE_BY_SIDE|\w*TRIES|\w*ROUNDS|\w*LOOKS|\w+_(READ|KEPT|COUNTED|AT_ONCE|AT_A_TIME|NAMED|TOGETHER)|NAMED|NAMES_KEPT|CACHE_\w+|\w+_LIMIT|REMEMBERED|WINDOW|BATCH|ROWS|RUN_\w+|WHOLE_RUN_MS|JOBS_A_QUERY|LOOKED_AT|MAX_PAGES|SKIP_CHUNK|MAX_KEYS|MIN_HELPERS|ITEMS_OF_A_PART|COUNTER_FRESH_SECONDS|POLL_\w+|\w+_POLL_MS)$/

/** Every way in which a part of a file can be broken at one place. */
export function breaksIn(part: ESTree.Node, path: string, text: string): readonly Break[] {
  return breaksBelow(part, codeIn(path, text), [])
}

type Code = ReturnType<typeof codeIn>
type Breaks<Node> = (node: Node, code: Code, around: readonly ESTree.Node[]) => readonly Break[]

const OPERATORS: {
  readonly [Type in ESTree.Node['type']]?: Breaks<Extract<ESTree.Node, { readonly type: Type }>>
} = {
  IfStatement: ofTest,
  ConditionalExpression: ofTest,
  LogicalExpression: (node, { by, codeOf }) => [
    by('operand dropped', node, codeOf(node.right)),
    ...(node.operator === '??' ? [] : [by('operand dropped', node, codeOf(node.left))]),
  ],
  BinaryExpression: ofOperator,
  AssignmentExpression: ofOperator,
  CallExpression: ofCall,
  ObjectExpression: ofObject,
  ArrayExpression: ({ elements }, { without }, [parent]) =>
    isChange(parent)
      ? elements.flatMap((one) => (one ? [without('change dropped', elements, one)] : []))
      : [],
  MemberExpression: ofMember,
  Literal: (node, { by }) =>
    typeof node.value === 'boolean' ? [by('choice reversed', node, String(!node.value))] : [],
  VariableDeclarator: ofConstant,
  ExpressionStatement: ofStatement,
  TemplateLiteral: ofTemplate,
}

function breaksBelow(
  node: ESTree.Node,
  code: Code,
  around: readonly ESTree.Node[],
): readonly Break[] {
  // Types say nothing once the program runs.
  if (node.type.startsWith('TS') && !/^TS(As|Satisfies|NonNull)/.test(node.type)) return []
  if (node.type === 'CallExpression' && TELLING.test(code.codeOf(node.callee))) return []
  const breaks = OPERATORS[node.type] as Breaks<ESTree.Node> | undefined
  return [
    ...(breaks?.(node, code, around) ?? []),
    ...childrenOf(node).flatMap((child) => breaksBelow(child, code, [node, ...around])),
  ]
}

function codeIn(path: string, text: string) {
  const codeOf = ({ start, end }: ESTree.Node) => text.slice(start, end)
  const by = (operator: string, { start, end }: ESTree.Node, code: string): Break => ({
    operator,
    start,
    end,
    by: code,
  })
  const without = (
    operator: string,
    list: readonly (ESTree.Node | null)[],
    node: ESTree.Node,
  ): Break => {
    const at = list.indexOf(node)
    const [before, after] = [list[at - 1], list[at + 1]]
    if (after) return { operator, start: node.start, end: after.start, by: '' }
    const comma = /^\s*,/.exec(text.slice(node.end))?.[0].length ?? 0
    return {
      operator,
      start: before?.end ?? node.start,
      end: node.end + (before ? 0 : comma),
      by: '',
    }
  }
  return { path, text, codeOf, by, without }
}

/** A negated condition dies where one of these does: it says nothing more. */
function ofTest(
  { test }: ESTree.IfStatement | ESTree.ConditionalExpression,
  { by }: Code,
): readonly Break[] {
  return [by('condition true', test, 'true'), by('condition false', test, 'false')]
}

type Binary = ESTree.BinaryExpression | ESTree.PrivateInExpression | ESTree.AssignmentExpression

function ofOperator(
  node: Binary,
  { by, codeOf }: Code,
  around: readonly ESTree.Node[],
): readonly Break[] {
  const [parent] = around
  const [left, right] = [codeOf(node.left), codeOf(node.right)]
  const spliced = (name: string, others: ReadonlyMap<string, string>) => {
    const other = others.get(node.operator)
    return other === undefined ? [] : [by(name, node, `${left} ${other} ${right}`)]
  }
  const hasTerms = /^[+-]$/.test(node.operator) && !/['"`]/.test(left + right)
  // What a bound is made of is moved with the bound.
  if (around.some((outer) => outer.type === 'VariableDeclarator' && BOUND.test(nameOf(outer.id))))
    return []
  return [
    ...(isBorderFree(node, parent, codeOf) ? [] : spliced('comparison moved', BORDERS)),
    ...(standsAlone(node, parent) ? spliced('choice reversed', REVERSED) : []),
    ...spliced('sum changed', SUMS),
    ...(hasTerms ? [by('sum changed', node, left)] : []),
    ...(hasTerms && node.operator === '+' ? [by('sum changed', node, right)] : []),
  ]
}

function nameOf(node: ESTree.Node | null | undefined): string {
  if (node?.type === 'MemberExpression') return nameOf(node.property)
  return node?.type === 'Identifier' ? node.name : ''
}

/** Of equal members the order is free, and a list that is empty does nothing either way. */
function isBorderFree(
  node: Binary,
  parent: ESTree.Node | undefined,
  code: (node: ESTree.Node) => string,
): boolean {
  return (
    [node.left, node.right].some((side) => WORK.test(nameOf(side))) ||
    (nameOf(node.left) === 'length' && code(node.right) === '0') ||
    (parent?.type === 'ConditionalExpression' && /^-?1$/.test(code(parent.consequent)))
  )
}

/** What decides by itself: conditions and their operands are broken as a whole. */
function standsAlone(node: ESTree.Node, parent: ESTree.Node | undefined): boolean {
  return !(
    parent?.type === 'LogicalExpression' ||
    (parent && 'test' in parent && parent.test === node)
  )
}

function ofCall(
  node: ESTree.CallExpression,
  { by, codeOf, without, text }: Code,
  around: readonly ESTree.Node[],
): readonly Break[] {
  const { callee, arguments: given } = node
  const name = nameOf(callee)
  const [first, second] = given
  const last = given.at(-1)
  const [unguarded = '', place = -1] = (callee.type === 'Identifier' && STEPS.get(name)) || []
  const condition = given[place]
  // A brand is a type: it checks nothing.
  const conditions =
    /^(all|any|pipe)$/.test(name) && second ? given.slice(name === 'pipe' ? 1 : 0) : []
  const [choice, border, other] = [CHOICES, TABLE_BORDERS, ALL_FOR_ANY].map((map) => map.get(name))
  const isWrite = /\btable\.(write|transact)$/.test(codeOf(callee))
  const isUsed = !around.slice(0, 2).some(({ type }) => type === 'ExpressionStatement')
  const isMethod = callee.type === 'MemberExpression'
  const [unit, otherUnit] = [first, second].map(
    (one) => /([A-Z][a-z]+|^[a-z]+|ZERO)$/.exec(nameOf(one))?.[0],
  )
  const isOneUnit = unit !== undefined && (unit === otherUnit || unit === 'ZERO')
  const isSwapped = first && second && !EITHER_WAY.test(name) && (isOneUnit || name === 'less')
  const swapped = isSwapped && codeOf(second) + text.slice(first.end, second.start) + codeOf(first)
  return [
    ...conditions
      .filter((one) => !codeOf(one).startsWith('v.brand'))
      .map((one) => without('condition dropped', given, one)),
    ...(condition && !(unguarded === ALWAYS && codeOf(condition) === 'exists')
      ? [by('step unguarded', condition, unguarded)]
      : []),
    ...(KEYS.test(name) && nameOf(first) !== 'deps' && second && last
      ? [without('key widened', given, last)]
      : []),
    ...(/^(plus|less|addMs)$/.test(name) && first
      ? [by('sum changed', node, `(${codeOf(first)})`)]
      : []),
    ...(swapped ? [{ ...by('field swapped', first, swapped), end: second.end }] : []),
    ...(other && second
      ? [
          by(
            'condition dropped',
            node,
            `({ test: '${other}', of: [${given.map(codeOf).join(', ')}] })`,
          ),
        ]
      : []),
    ...(border && first && second
      ? [
          by(
            'comparison moved',
            node,
            `({ test: '${border}', field: ${codeOf(first)}, value: ${codeOf(second)} })`,
          ),
        ]
      : []),
    ...(choice && isMethod ? [by('choice reversed', callee.property, choice)] : []),
    ...(name === 'filter' && isMethod
      ? [by('condition dropped', node, codeOf(callee.object))]
      : []),
    ...(isWrite && isUsed
      ? [by('write dropped', node, '({ applied: true, item: undefined })')]
      : []),
  ]
}

function ofObject(
  node: ESTree.ObjectExpression,
  { without }: Code,
  [parent, outer]: readonly ESTree.Node[],
): readonly Break[] {
  const [call, last] =
    parent?.type === 'CallExpression' ? [nameOf(parent.callee), parent.arguments.at(-1)] : ['']
  const isNamedSteps = parent?.type === 'VariableDeclarator' && nameOf(parent.id) === 'steps'
  const isSteps =
    isNamedSteps || call.startsWith('transact') || (call === 'recordChange' && last === node)
  const isChanges =
    /^update(Fields)?$/.test(call) || (isChange(parent) && outer?.type === 'ObjectExpression')
  const operator = isSteps ? 'step dropped' : 'change dropped'
  return isSteps || isChanges
    ? node.properties.map((property) => without(operator, node.properties, property))
    : []
}

function isChange(node: ESTree.Node | undefined) {
  return node?.type === 'Property' && CHANGES.test(nameOf(node.key))
}

function ofMember(
  node: ESTree.MemberExpression,
  { by }: Code,
  [parent]: readonly ESTree.Node[],
): readonly Break[] {
  const { property, computed } = node
  const group = ALIKE.find((names) => names.includes(nameOf(property))) ?? []
  const other = group[(group.indexOf(nameOf(property)) + 1) % group.length]
  const isCalled = parent?.type === 'CallExpression' && parent.callee === node
  return computed || isCalled || other === undefined ? [] : [by('field swapped', property, other)]
}

/** A number in capitals: a count is one too many or too few, a time ten times too long or too short. */
function ofConstant(
  { id, init }: ESTree.VariableDeclarator,
  { by, codeOf }: Code,
): readonly Break[] {
  if (
    !init ||
    !BOUND.test(nameOf(id)) ||
    WORK.test(nameOf(id)) ||
    !/^[\dA-Z_ */+.()-]+$/.test(codeOf(init))
  )
    return []
  const moves = init.type === 'Literal' ? ['+ 1', '- 1'] : ['* 10', '/ 10']
  return moves.map((move) => by('bound moved', init, `(${codeOf(init)}) ${move}`))
}

function ofStatement(node: ESTree.ExpressionStatement, { by, codeOf }: Code): readonly Break[] {
  const call =
    node.expression.type === 'AwaitExpression' ? node.expression.argument : node.expression
  const isTelling = call.type === 'CallExpression' && TELLING.test(codeOf(call.callee))
  return call.type === 'CallExpression' && !isTelling ? [by('write dropped', node, '{}')] : []
}

function ofTemplate(
  { expressions }: ESTree.TemplateLiteral,
  { path, by, text }: Code,
): readonly Break[] {
  return path !== 'shared/table/keys.ts'
    ? []
    : expressions
        .slice(1)
        .map((one) => ({
          ...by('key widened', one, ''),
          start: one.start - 2,
          end: text.indexOf('}', one.end) + 1,
        }))
}
