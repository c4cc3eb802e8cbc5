import * as v from 'valibot'
import { synthesised } from '../../support/stack-template.ts'

const STAGES = { dev: synthesised('dev'), prod: synthesised('prod') }
export type Stage = keyof typeof STAGES

const OneOrMany = v.pipe(
  v.union([v.string(), v.array(v.string())]),
  v.transform((value) => [value].flat()),
)
const StatedKeys = { 'ForAllValues:StringLike': v.strictObject({ 'dynamodb:LeadingKeys': OneOrMany }) }
/** Of stated kinds of items only, and never without a key. */
const LeadingKeys = v.strictObject({
  ...StatedKeys,
  Null: v.strictObject({ 'dynamodb:LeadingKeys': v.literal('false') }),
})
/** Of these also stated attributes only, and never all of them. */
const Fields = v.strictObject({
  ...StatedKeys,
  'ForAllValues:StringEquals': v.strictObject({ 'dynamodb:Attributes': OneOrMany }),
  StringEqualsIfExists: v.union([
    v.strictObject({ 'dynamodb:Select': v.literal('SPECIFIC_ATTRIBUTES') }),
    v.strictObject({ 'dynamodb:ReturnValues': v.literal('NONE') }),
  ]),
  Null: v.strictObject({ 'dynamodb:LeadingKeys': v.literal('false'), 'dynamodb:Attributes': v.literal('false') }),
})
/** By a service that asks in the function's name, never by the function itself. */
const ViaService = v.strictObject({ StringEquals: v.strictObject({ 'kms:ViaService': v.string() }) })
/** By the function itself: under the context of an endpoint of the stage, and no other. */
const OfEndpoint = v.strictObject({
  StringEquals: v.strictObject({ 'kms:EncryptionContext:stage': v.string() }),
  'ForAllValues:StringEquals': v.strictObject({
    'kms:EncryptionContextKeys': v.tuple([v.literal('stage'), v.literal('client'), v.literal('endpoint')]),
  }),
  Null: v.strictObject({
    'kms:EncryptionContext:client': v.literal('false'),
    'kms:EncryptionContext:endpoint': v.literal('false'),
  }),
})
const Role = v.strictObject({
  AssumeRolePolicyDocument: v.object({
    Statement: v.array(v.object({ Effect: v.string(), Action: v.string(), Principal: v.unknown() })),
  }),
  Policies: v.array(
    v.object({
      PolicyDocument: v.object({
        Statement: v.array(
          v.strictObject({
            Effect: v.literal('Allow'),
            Action: OneOrMany,
            Resource: OneOrMany,
            Condition: v.optional(v.union([LeadingKeys, Fields, ViaService, OfEndpoint])),
          }),
        ),
      }),
    }),
  ),
})

const rolesOf = (stage: Stage) =>
  new Map(
    STAGES[stage].ofType('AWS::IAM::Role').map(({ logicalId, properties }) => [logicalId, v.parse(Role, properties)]),
  )
export const ROLES = { dev: rolesOf('dev'), prod: rolesOf('prod') }

export const roleOf = (stage: Stage, name: string) => {
  const lambda = STAGES[stage]
    .ofType('AWS::Lambda::Function')
    .find(({ properties }) => properties['FunctionName'] === `gateway-${stage}-${name}`)
  return ROLES[stage].get(String(lambda?.properties['Role']).replace(/^<(.*)>\.Arn$/, '$1'))
}

type Condition = v.InferOutput<typeof LeadingKeys | typeof Fields | typeof ViaService | typeof OfEndpoint>

const suffixes = (condition: Condition | undefined) => {
  if (condition === undefined) return ['']
  if ('StringEquals' in condition && 'Null' in condition) {
    return [` for endpoints of ${condition.StringEquals['kms:EncryptionContext:stage']}`]
  }
  if ('StringEquals' in condition) {
    return [` via ${condition.StringEquals['kms:ViaService'].replace('.<AWS::Region>.amazonaws.com', '')}`]
  }
  const fields =
    'StringEqualsIfExists' in condition
      ? `, ${condition['ForAllValues:StringEquals']['dynamodb:Attributes'].join(' ')} alone`
      : ''
  return condition['ForAllValues:StringLike']['dynamodb:LeadingKeys'].map((kind) => ` of ${kind}${fields}`)
}

/** Every single permission of a function, as `action on resource`, `of` which leading keys, `via` which service. */
export const permissionsOf = (stage: Stage, name: string): readonly string[] =>
  (roleOf(stage, name)?.Policies ?? [])
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement)
    .flatMap(({ Action, Resource, Condition }) =>
      suffixes(Condition).flatMap((suffix) =>
        Action.flatMap((action) => Resource.map((on) => `${action} on ${on}${suffix}`)),
      ),
    )
    .toSorted()
