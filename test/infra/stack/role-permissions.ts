import { isDeepStrictEqual } from 'node:util'
import { synthesised } from '../../support/stack-template.ts'

const STAGES = { dev: synthesised('dev'), prod: synthesised('prod') }
export type Stage = keyof typeof STAGES

type Texts = string | readonly string[]
type Condition = Readonly<Record<string, Readonly<Record<string, Texts>>>>
type Statement = Readonly<Record<'Effect' | 'Action' | 'Resource', Texts>> & {
  readonly Condition?: Condition
}
type Role = {
  readonly Policies: readonly {
    readonly PolicyDocument: { readonly Statement: readonly Statement[] }
  }[]
}

export function roleOf(stage: Stage, name: string) {
  const { all, ofType } = STAGES[stage]
  const lambda = all('AWS::Lambda::Function').find(
    ({ FunctionName }) => FunctionName === `gateway-${stage}-${name}`,
  )
  const role = ofType('AWS::IAM::Role').find(
    ({ logicalId }) => lambda?.['Role'] === `<${logicalId}>.Arn`,
  )
  return role?.properties as Role | undefined
}

/**
 * Every permission of a function: `action on resource`, with `of` the leading keys and `via` the
 * service.
 */
export function permissionsOf(stage: Stage, name: string) {
  return (roleOf(stage, name)?.Policies ?? [])
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .flatMap(({ Effect, Action, Resource, Condition: condition }) => {
      if (Effect !== 'Allow') throw new Error(`${name} has a statement of ${String(Effect)}`)
      const words = condition ? wordsOf(condition) : ['']
      return words.flatMap((word) =>
        [Action]
          .flat()
          .flatMap((action) =>
            [Resource].flat().map((resource) => `${action} on ${resource}${word}`),
          ),
      )
    })
    .toSorted()
}

const ANSWER_LIMITS = [
  ['', undefined],
  [' alone', { 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' }],
  [', without an answer', { 'dynamodb:ReturnValues': 'NONE' }],
] as const

/** Throws for a condition that no role may have. */
function wordsOf(condition: Condition) {
  const textsOf = (operator: string, key: string) => [condition[operator]?.[key] ?? []].flat()
  const kinds = textsOf('ForAllValues:StringLike', 'dynamodb:LeadingKeys')
  const fields = textsOf('ForAllValues:StringEquals', 'dynamodb:Attributes')
  const [service = ''] = textsOf('StringEquals', 'kms:ViaService')
  const [stage = ''] = textsOf('StringEquals', 'kms:EncryptionContext:stage')
  // Only items of stated kinds, and never a request without a key.
  const ofKinds = {
    'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': kinds },
    Null: { 'dynamodb:LeadingKeys': 'false' },
  }
  if (isDeepStrictEqual(condition, ofKinds)) return kinds.map((kind) => ` of ${kind}`)
  // Also only stated attributes, and never all of them.
  const { StringEqualsIfExists: answerLimit, ...named } = condition
  const ofFields = {
    ...ofKinds,
    'ForAllValues:StringEquals': { 'dynamodb:Attributes': fields },
    Null: { 'dynamodb:LeadingKeys': 'false', 'dynamodb:Attributes': 'false' },
  }
  const limit = ANSWER_LIMITS.find(([, known]) => isDeepStrictEqual(known, answerLimit))?.[0]
  if (limit !== undefined && isDeepStrictEqual(named, ofFields))
    return [` of ${kinds.join()}, ${fields.join(' ')}${limit}`]
  // Used by a service for the function, never by the function itself.
  if (isDeepStrictEqual(condition, { StringEquals: { 'kms:ViaService': service } })) {
    return [` via ${service.replace('.<AWS::Region>.amazonaws.com', '')}`]
  }
  // Used by the function itself, only with the encryption context of an endpoint of the stage.
  const ofEndpoint = {
    StringEquals: { 'kms:EncryptionContext:stage': stage },
    'ForAllValues:StringEquals': { 'kms:EncryptionContextKeys': ['stage', 'client', 'endpoint'] },
    Null: { 'kms:EncryptionContext:client': 'false', 'kms:EncryptionContext:endpoint': 'false' },
  }
  if (isDeepStrictEqual(condition, ofEndpoint)) return [` for endpoints of ${stage}`]
  throw new Error(`no role has such a condition: ${JSON.stringify(condition)}`)
}
