import { isDeepStrictEqual } from 'node:util'
import { synthesised } from '../../support/stack-template.ts'

const STAGES = { dev: synthesised('dev'), prod: synthesised('prod') }
export type Stage = keyof typeof STAGES

type Texts = string | readonly string[]
type Condition = Readonly<Record<string, Readonly<Record<string, Texts>>>>
type Statement = {
  readonly Effect: string
  readonly Action: Texts
  readonly Resource: Texts
  readonly Condition?: Condition
}
type Role = { readonly Policies: readonly { readonly PolicyDocument: { readonly Statement: readonly Statement[] } }[] }

export const roleOf = (stage: Stage, name: string) => {
  const { all, ofType } = STAGES[stage]
  const lambda = all('AWS::Lambda::Function').find(({ FunctionName }) => FunctionName === `gateway-${stage}-${name}`)
  const role = ofType('AWS::IAM::Role').find(({ logicalId }) => lambda?.['Role'] === `<${logicalId}>.Arn`)
  return role?.properties as Role | undefined
}

/** Each condition that a role may have, in words for each leading key. Throws at any other condition. */
const wordsOf = (condition: Condition): readonly string[] => {
  const textsOf = (operator: string, key: string) => [condition[operator]?.[key] ?? []].flat()
  const kinds = textsOf('ForAllValues:StringLike', 'dynamodb:LeadingKeys')
  const fields = textsOf('ForAllValues:StringEquals', 'dynamodb:Attributes')
  const [service = ''] = textsOf('StringEquals', 'kms:ViaService')
  const [stage = ''] = textsOf('StringEquals', 'kms:EncryptionContext:stage')
  // Of stated kinds of items only, and never without a key.
  const ofKinds = {
    'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': kinds },
    Null: { 'dynamodb:LeadingKeys': 'false' },
  }
  if (isDeepStrictEqual(condition, ofKinds)) return kinds.map((kind) => ` of ${kind}`)
  // Of these also stated attributes only, and never all of them.
  const some = [{ 'dynamodb:Select': 'SPECIFIC_ATTRIBUTES' }, { 'dynamodb:ReturnValues': 'NONE' }].map((answered) => ({
    ...ofKinds,
    'ForAllValues:StringEquals': { 'dynamodb:Attributes': fields },
    StringEqualsIfExists: answered,
    Null: { 'dynamodb:LeadingKeys': 'false', 'dynamodb:Attributes': 'false' },
  }))
  if (some.some((one) => isDeepStrictEqual(condition, one))) return [` of ${kinds.join()}, ${fields.join(' ')} alone`]
  // By a service that asks in the function's name, never by the function itself.
  if (isDeepStrictEqual(condition, { StringEquals: { 'kms:ViaService': service } })) {
    return [` via ${service.replace('.<AWS::Region>.amazonaws.com', '')}`]
  }
  // By the function itself: under the context of an endpoint of the stage, and no other.
  const ofEndpoint = {
    StringEquals: { 'kms:EncryptionContext:stage': stage },
    'ForAllValues:StringEquals': { 'kms:EncryptionContextKeys': ['stage', 'client', 'endpoint'] },
    Null: { 'kms:EncryptionContext:client': 'false', 'kms:EncryptionContext:endpoint': 'false' },
  }
  if (isDeepStrictEqual(condition, ofEndpoint)) return [` for endpoints of ${stage}`]
  throw new Error(`no role has such a condition: ${JSON.stringify(condition)}`)
}

/** Every single permission of a function, as `action on resource`, `of` which leading keys, `via` which service. */
export const permissionsOf = (stage: Stage, name: string): readonly string[] =>
  (roleOf(stage, name)?.Policies ?? [])
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .flatMap(({ Effect, Action, Resource, Condition: condition }) => {
      if (Effect !== 'Allow') throw new Error(`${name} has a statement of ${Effect}`)
      const words = condition ? wordsOf(condition) : ['']
      return words.flatMap((word) =>
        [Action].flat().flatMap((action) => [Resource].flat().map((on) => `${action} on ${on}${word}`)),
      )
    })
    .toSorted()
