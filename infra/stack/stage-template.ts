import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App } from 'aws-cdk-lib'
import * as v from 'valibot'
import { GatewayStack } from './gateway-stack.ts'
import type { DeployedStage } from './stage.ts'

const TemplateSchema = v.object({
  Resources: v.record(
    v.string(),
    v.object({ Type: v.string(), Properties: v.optional(v.record(v.string(), v.unknown()), {}) }),
  ),
})

export type TemplateResource = {
  readonly logicalId: string
  readonly type: string
  readonly properties: Readonly<Record<string, unknown>>
}

/** A stage's stack as CloudFormation would be given it. */
export type StageTemplate = {
  readonly stackName: string
  readonly resources: readonly TemplateResource[]
  ofType(type: string): readonly TemplateResource[]
}

export const stackNameOf = ({ settings }: DeployedStage): string => `gateway-${settings.name}`

/** The second stack, of a stage with a front. */
export const frontStackNameOf = (stage: DeployedStage): string => `${stackNameOf(stage)}-front`

const CONTEXT: Readonly<Record<string, unknown>> = v.parse(
  v.object({ context: v.record(v.string(), v.unknown()) }),
  JSON.parse(readFileSync(join(import.meta.dirname, '../../cdk.json'), 'utf8')),
).context

/**
 * What the stack of a stage says, for the tools that compare a deployed stage with it: so there is no second list of
 * what a queue or a function should be. Functions are not bundled, which only their code's hash would show.
 */
export const stageTemplate = (stage: DeployedStage): StageTemplate => {
  const outdir = mkdtempSync(join(tmpdir(), 'gateway-template-'))
  try {
    const app = new App({ outdir, context: { ...CONTEXT, 'aws:cdk:bundling-stacks': [] } })
    const stackName = stackNameOf(stage)
    new GatewayStack(app, stackName, { stage })
    const { Resources } = v.parse(TemplateSchema, app.synth().getStackByName(stackName).template)
    const resources = Object.entries(Resources).map(([logicalId, { Type: type, Properties: properties }]) => ({
      logicalId,
      type,
      properties,
    }))
    return { stackName, resources, ofType: (type) => resources.filter((resource) => resource.type === type) }
  } finally {
    rmSync(outdir, { recursive: true })
  }
}

const Reference = v.union([
  v.pipe(
    v.strictObject({ Ref: v.string() }),
    v.transform(({ Ref }) => Ref),
  ),
  v.pipe(
    v.strictObject({ 'Fn::GetAtt': v.tuple([v.string(), v.string()]) }),
    v.transform((reference) => reference['Fn::GetAtt'][0]),
  ),
])

/** The logical id a value points to, by `Ref` or `Fn::GetAtt`. */
export const pointedTo = (value: unknown): string | undefined => {
  const parsed = v.safeParse(Reference, value)
  return parsed.success ? parsed.output : undefined
}

/** A resource's own name, where its properties say one as text. */
export const nameOfResource = ({ properties, logicalId }: TemplateResource, property: string): string => {
  const name = properties[property]
  return typeof name === 'string' ? name : logicalId
}
