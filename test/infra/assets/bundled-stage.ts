import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import * as v from 'valibot'
import cdkJson from '../../../cdk.json' with { type: 'json' }
import { GatewayStack } from '../../../infra/stack/gateway-stack.ts'
import type { DeployedStage } from '../../../infra/stack/stage.ts'

const Lambda = v.object({
  Type: v.literal('AWS::Lambda::Function'),
  Properties: v.object({
    FunctionName: v.string(),
    Handler: v.string(),
    Code: v.object({ S3Key: v.pipe(v.string(), v.endsWith('.zip')) }),
    Environment: v.object({ Variables: v.record(v.string(), v.unknown()) }),
  }),
})
const Template = v.object({
  Resources: v.record(v.string(), v.object({ Type: v.string(), Properties: v.optional(v.unknown()) })),
})

const Reference = v.object({ Ref: v.optional(v.string()), 'Fn::GetAtt': v.optional(v.array(v.string())) })

export type BundledFunction = {
  /** Of the module that Lambda would load. */
  readonly file: string
  /** As the template gives it; references are left as the name of what they point to, such as `Queue webhooks`. */
  readonly environment: Readonly<Record<string, string>>
}

const NAMED: Readonly<Record<string, string>> = {
  'AWS::DynamoDB::GlobalTable': 'TableName',
  'AWS::SQS::Queue': 'QueueName',
  'AWS::SNS::Topic': 'TopicName',
  'AWS::SecretsManager::Secret': 'Name',
  'AWS::KMS::Key': 'Description',
}

/** Every function of a stage, bundled as `cdk deploy` bundles it, by deployed name. */
export const bundledStage = (stage: DeployedStage, outdir: string): ReadonlyMap<string, BundledFunction> => {
  const app = new App({ outdir, context: cdkJson.context })
  const name = `gateway-${stage.settings.name}`
  const { stackName } = new GatewayStack(app, name, { stage })
  const { Resources } = v.parse(Template, app.synth().getStackByName(stackName).template)
  const named = (value: unknown): string => {
    if (typeof value === 'string') return value
    const { Ref, 'Fn::GetAtt': [pointedTo] = [Ref] } = v.parse(Reference, value)
    const resource = Resources[pointedTo ?? '']
    const property = NAMED[resource?.Type ?? '']
    if (property === undefined) throw new Error(`the template gives a variable that nothing local stands for`)
    return `${resource?.Type} ${String(Object(resource?.Properties)[property])}`
  }
  return new Map(
    Object.values(Resources)
      .filter((resource) => v.is(Lambda, resource))
      .map(({ Properties: { FunctionName, Handler, Code, Environment } }) => [
        FunctionName,
        {
          file: join(outdir, `asset.${Code.S3Key.replace('.zip', '')}`, `${Handler.split('.')[0]}.mjs`),
          environment: Object.fromEntries(
            Object.entries(Environment.Variables).map(([variable, value]) => [variable, named(value)]),
          ),
        },
      ]),
  )
}
