import type { Resource } from './stack-template.ts'

type Holder = Pick<Resource, 'logicalId' | 'type' | 'properties'>

/** One permission of the template, whatever document it stands in. */
export type Statement = {
  /** The type of the resource that carries it, such as `AWS::IAM::Role`. */
  readonly of: string
  readonly logicalId: string
  readonly effect: string
  readonly fields: Readonly<Record<(typeof FIELDS)[number], readonly string[]>>
}

/** Where a wildcard widens. In a condition it can only narrow. */
const FIELDS = ['Principal', 'NotPrincipal', 'Action', 'NotAction', 'Resource', 'NotResource', 'SourceArn'] as const

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Every text in a value: a principal may be a text, a list, or either of them by kind. */
const textsIn = (value: unknown): readonly string[] => {
  if (value === undefined) return []
  if (Array.isArray(value)) return value.flatMap(textsIn)
  if (isRecord(value)) return Object.values(value).flatMap(textsIn)
  return typeof value === 'string' ? [value] : []
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Policy documents wherever they are, also where CloudFormation wants them as text. */
const documentsIn = (value: unknown): readonly (readonly unknown[])[] => {
  if (Array.isArray(value)) return value.flatMap(documentsIn)
  if (typeof value === 'string') return value.startsWith('{') ? documentsIn(parsed(value)) : []
  if (!isRecord(value)) return []
  const { Statement: statement, ...rest } = value
  return [...(statement === undefined ? [] : [[statement].flat()]), ...Object.values(rest).flatMap(documentsIn)]
}

const statementOf = ({ type, logicalId }: Holder, statement: unknown): Statement => {
  const raw = isRecord(statement) ? statement : {}
  const fields = Object.fromEntries(FIELDS.map((field) => [field, textsIn(raw[field])])) as Statement['fields']
  return { of: type, logicalId, effect: String(raw['Effect']), fields }
}

/** Every statement of a template: of roles, of policies of queues, topics, keys and others, and of Lambda's own kind. */
export const statementsOf = ({ resources }: { readonly resources: readonly Holder[] }): readonly Statement[] =>
  resources.flatMap((resource) =>
    resource.type === 'AWS::Lambda::Permission'
      ? [statementOf(resource, { Effect: 'Allow', ...resource.properties })]
      : documentsIn(resource.properties)
          .flat()
          .map((statement) => statementOf(resource, statement)),
  )

/**
 * Its wildcards, each as `AWS::IAM::Role Allow Resource secret:gateway/*`. A role that reaches everything is named with
 * what it may do there, so that a reason for one action is none for another.
 */
export const wildcardsOf = ({ of, effect, fields }: Statement): readonly string[] =>
  FIELDS.flatMap((field) =>
    fields[field]
      .filter((text) => /[*?]/.test(text))
      .map((text) => {
        const actions =
          of === 'AWS::IAM::Role' && field === 'Resource' && text === '*'
            ? ` of ${fields.Action.toSorted().join(', ')}`
            : ''
        return `${of} ${effect} ${field} ${text}${actions}`
      }),
  )
