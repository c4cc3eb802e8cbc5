import { attributeName } from '../../table/attributes.ts'
import { keyAttributes } from '../../table/schema.ts'
import type { Changes, Condition } from '../../table/step.ts'
import type { QueryInput } from '../../table/table.ts'

export function placeholders() {
  const names: Record<string, string> = {}
  const values: Record<string, unknown> = {}
  return {
    name: (field: string) => {
      const attribute = attributeName(field)
      const placeholder = `#${attribute}`
      names[placeholder] = attribute
      return placeholder
    },
    value: (value: unknown) => {
      const placeholder = `:v${Object.keys(values).length}`
      values[placeholder] = value
      return placeholder
    },
    /** DynamoDB refuses empty maps. */
    maps: () => ({
      ...(Object.keys(names).length > 0 && { ExpressionAttributeNames: names }),
      ...(Object.keys(values).length > 0 && { ExpressionAttributeValues: values }),
    }),
  }
}

type Placeholders = ReturnType<typeof placeholders>

const TESTS = { equals: '=', atMost: '<=', below: '<', above: '>' } as const
const FUNCTIONS = { absent: 'attribute_not_exists', present: 'attribute_exists' } as const
const WORDS = { all: ' AND ', any: ' OR ' } as const

export function conditionExpression(condition: Condition, p: Placeholders): string {
  if ('of' in condition) {
    const [first, ...rest] = condition.of
    // DynamoDB refuses redundant parentheses.
    if (first && rest.length === 0) return conditionExpression(first, p)
    return condition.of
      .map((inner) => `(${conditionExpression(inner, p)})`)
      .join(WORDS[condition.test])
  }
  if ('value' in condition)
    return `${p.name(condition.field)} ${TESTS[condition.test]} ${p.value(condition.value)}`
  return `${FUNCTIONS[condition.test]}(${p.name(condition.field)})`
}

export function updateExpression(changes: Changes, p: Placeholders) {
  const assignments = [
    ...definedFields(changes.set).map(([field, value]) => `${p.name(field)} = ${p.value(value)}`),
    ...definedFields(changes.setIfAbsent).map(
      ([field, value]) => `${p.name(field)} = if_not_exists(${p.name(field)}, ${p.value(value)})`,
    ),
  ]
  const additions = definedFields(changes.add).map(
    ([field, value]) => `${p.name(field)} ${p.value(value)}`,
  )
  const removals = (changes.remove ?? []).map((field) => p.name(field))
  return Object.entries({ SET: assignments, ADD: additions, REMOVE: removals })
    .flatMap(([word, parts]) => (parts.length > 0 ? [`${word} ${parts.join(', ')}`] : []))
    .join(' ')
}

function definedFields(fields: Readonly<Record<string, unknown>> | undefined) {
  return Object.entries(fields ?? {}).filter(([, value]) => value !== undefined)
}

export function keyExpression({ index, partition, range }: QueryInput, p: Placeholders) {
  const key = keyAttributes(index)
  const terms = key.partition.map(
    (attribute, at) => `${p.name(attribute)} = ${p.value(partition[at])}`,
  )
  if (range) {
    const name = p.name(key.sort[0])
    if ('atMost' in range) terms.push(`${name} <= ${p.value(range.atMost)}`)
    else if ('beginsWith' in range) terms.push(`begins_with(${name}, ${p.value(range.beginsWith)})`)
    else terms.push(`${name} BETWEEN ${p.value(range.between[0])} AND ${p.value(range.between[1])}`)
  }
  return terms.join(' AND ')
}
