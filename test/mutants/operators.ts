import type { ESTree } from 'vite'
import { childrenOf } from '../support/source-file.ts'
import { type Break, type Code, codeIn, nameOf } from './break.ts'

/** Fields of one type that a line can confuse. */
const ALIKE = [
  ['netMinor', 'notionalMinor', 'providerFeeMinor', 'markupMinor'],
  ['grossMinor', 'feeMinor'],
  ['availableMinor', 'paidOutMinor', 'inSettlementMinor'],
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
const CHANGES = /^(set|setIfAbsent|add|remove)$/
/** Texts for people and counts of used units break no promise. */
const TELLING = /(^|\.)log\.\w+$|^noteUnits$/
const BOUND = /^[A-Z][A-Z_0-9]*$/
/**
 * How much a step reads, tries, names or keeps at most: another number changes its cost, and no
 * answer.
 */
const WORK =
  /^(SLICES|PAGE|\w+_PAGE|PAGE_\w+|CONCURRENCY|SIDE_BY_SIDE|\w*TRIES|\w*ROUNDS|\w*LOOKS|\w+_(READ|KEPT|COUNTED|AT_ONCE|AT_A_TIME|NAMED|TOGETHER)|NAMED|UNITS_\w+|MAX_CACHED_NAMES|CACHE_\w+|\w+_LIMIT|WINDOW_ITEMS|BATCH_SIZE|RUN_\w+|WHOLE_RUN_MS|LOOKED_AT|MAX_PAGES|MAX_KEYS|MIN_HELPERS|ITEMS_PER_PART|COUNTER_FRESH_SECONDS)$/

export function breaksIn(part: ESTree.Node, path: string, text: string) {
  return breaksBelow(part, codeIn(path, text), [])
}

type Breaks<Node> = (node: Node, code: Code, around: readonly ESTree.Node[]) => readonly Break[]

const OPERATORS: {
  readonly [Type in ESTree.Node['type']]?: Breaks<Extract<ESTree.Node, { readonly type: Type }>>
} = {
  IfStatement: breakTest,
  ConditionalExpression: breakTest,
  LogicalExpression: (node, { by, codeOf }) => [
    by('operand dropped', node, codeOf(node.right)),
    ...(node.operator === '??' ? [] : [by('operand dropped', node, codeOf(node.left))]),
  ],
  BinaryExpression: breakOperator,
  AssignmentExpression: breakOperator,
  CallExpression: breakCall,
  ObjectExpression: breakObject,
  ArrayExpression: ({ elements }, { without }, [parent]) =>
    isChange(parent)
      ? elements.flatMap((one) => (one ? [without('change dropped', elements, one)] : []))
      : [],
  MemberExpression: breakMember,
  Literal: (node, { by }) =>
    typeof node.value === 'boolean' ? [by('choice reversed', node, String(!node.value))] : [],
  VariableDeclarator: breakConstant,
  ExpressionStatement: breakStatement,
  TemplateLiteral: breakTemplate,
}

function breaksBelow(
  node: ESTree.Node,
  code: Code,
  around: readonly ESTree.Node[],
): readonly Break[] {
  // Types have no effect when the program runs.
  if (node.type.startsWith('TS') && !/^TS(As|Satisfies|NonNull)/.test(node.type)) return []
  if (node.type === 'CallExpression' && TELLING.test(code.codeOf(node.callee))) return []
  const breaks = OPERATORS[node.type] as Breaks<ESTree.Node> | undefined
  return [
    ...(breaks?.(node, code, around) ?? []),
    ...childrenOf(node).flatMap((child) => breaksBelow(child, code, [node, ...around])),
  ]
}

/** A negated condition is left out: a check that notices it also notices one of these two. */
function breakTest({ test }: ESTree.IfStatement | ESTree.ConditionalExpression, { by }: Code) {
  return [by('condition true', test, 'true'), by('condition false', test, 'false')]
}

type Binary = ESTree.BinaryExpression | ESTree.PrivateInExpression | ESTree.AssignmentExpression

function breakOperator(node: Binary, { by, codeOf }: Code, around: readonly ESTree.Node[]) {
  const [parent] = around
  const [left, right] = [codeOf(node.left), codeOf(node.right)]
  const spliced = (name: string, others: ReadonlyMap<string, string>) => {
    const other = others.get(node.operator)
    return other === undefined ? [] : [by(name, node, `${left} ${other} ${right}`)]
  }
  const hasTerms = /^[+-]$/.test(node.operator) && !/['"`]/.test(left + right)
  // Parts of a bound are moved with the bound.
  if (around.some((outer) => outer.type === 'VariableDeclarator' && BOUND.test(nameOf(outer.id))))
    return []
  return [
    ...(isBorderFree(node, parent, codeOf) ? [] : spliced('comparison moved', BORDERS)),
    ...(isStandalone(node, parent) ? spliced('choice reversed', REVERSED) : []),
    ...spliced('sum changed', SUMS),
    ...(hasTerms ? [by('sum changed', node, left)] : []),
    ...(hasTerms && node.operator === '+' ? [by('sum changed', node, right)] : []),
  ]
}

/**
 * Whether the comparison's border has no effect: equal members may have any order, and an empty
 * list does nothing.
 */
function isBorderFree(
  node: Binary,
  parent: ESTree.Node | undefined,
  code: (node: ESTree.Node) => string,
) {
  return (
    [node.left, node.right].some((side) => WORK.test(nameOf(side))) ||
    (nameOf(node.left) === 'length' && code(node.right) === '0') ||
    (parent?.type === 'ConditionalExpression' && /^-?1$/.test(code(parent.consequent)))
  )
}

/** Whether the comparison is no condition or operand of one: conditions are broken as a whole. */
function isStandalone(node: ESTree.Node, parent: ESTree.Node | undefined) {
  return !(
    parent?.type === 'LogicalExpression' ||
    (parent && 'test' in parent && parent.test === node)
  )
}

function breakObject(
  node: ESTree.ObjectExpression,
  { without }: Code,
  [parent, outer]: readonly ESTree.Node[],
) {
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

function breakMember(
  node: ESTree.MemberExpression,
  { by }: Code,
  [parent]: readonly ESTree.Node[],
) {
  const { property, computed } = node
  const group = ALIKE.find((names) => names.includes(nameOf(property))) ?? []
  const other = group[(group.indexOf(nameOf(property)) + 1) % group.length]
  const isCalled = parent?.type === 'CallExpression' && parent.callee === node
  return computed || isCalled || other === undefined ? [] : [by('field swapped', property, other)]
}

/**
 * A number in capitals: a count is one too many or too few, a time ten times too long or too short.
 */
function breakConstant({ id, init }: ESTree.VariableDeclarator, { by, codeOf }: Code) {
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

function breakStatement(node: ESTree.ExpressionStatement, { by, codeOf }: Code) {
  const call =
    node.expression.type === 'AwaitExpression' ? node.expression.argument : node.expression
  const isTelling = call.type === 'CallExpression' && TELLING.test(codeOf(call.callee))
  return call.type === 'CallExpression' && !isTelling ? [by('write dropped', node, '{}')] : []
}

function breakTemplate({ expressions }: ESTree.TemplateLiteral, { path, by, text }: Code) {
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

const CHOICES = new Map(Object.entries({ min: 'max', max: 'min', every: 'some', some: 'every' }))
const EITHER_WAY = /^(plus|min|max|smaller|earlier|later)$/
const TABLE_BORDERS = new Map(Object.entries({ below: 'atMost', atMost: 'below' }))
const ALL_FOR_ANY = new Map(Object.entries({ all: 'any', any: 'all' }))

/** A condition that every stored item satisfies. */
const ALWAYS = `({ test: 'present', field: 'pk' })`
/**
 * By function that makes a step: what replaces the step's condition, and which argument the
 * condition is.
 */
const STEPS = new Map(
  Object.entries({
    put: ['undefined', 2],
    update: ['undefined', 2],
    updateFields: [ALWAYS, 2],
    guard: [ALWAYS, 1],
    remove: [ALWAYS, 1],
  } as const),
)
const KEYS = /(Key|Pk|^shardOf)$/

function breakCall(
  node: ESTree.CallExpression,
  { by, codeOf, without, text }: Code,
  around: readonly ESTree.Node[],
) {
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
