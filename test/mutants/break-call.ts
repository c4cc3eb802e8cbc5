import type { ESTree } from 'vite'
import { type Break, type Code, nameOf } from './break.ts'

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

export function breakCall(
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
