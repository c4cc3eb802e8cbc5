import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App, Stack } from 'aws-cdk-lib'
import { Template } from 'aws-cdk-lib/assertions'
import cdkJson from '../../cdk.json' with { type: 'json' }
import { addStacks } from '../../infra/stack/add-stacks.ts'
import { FrontStack } from '../../infra/stack/front-stack.ts'
import { GatewayStack } from '../../infra/stack/gateway-stack.ts'
import type { WatchedFront } from '../../infra/stack/monitoring/alarms/front-alarms.ts'
import { type DeployedStage, deployedStage } from '../../infra/stack/stage.ts'
import { CopiesStack } from '../../infra/stack/storage/table-copies.ts'

type Properties = Readonly<Record<string, unknown>>

type RawResource = {
  readonly Type: string
  readonly Properties?: Properties
  readonly DeletionPolicy?: string
  readonly UpdatePolicy?: unknown
  readonly DependsOn?: string | readonly string[]
}

/** Stages that this process has synthesised, because each takes a second. */
const made = new Map<string, StackTemplate>()

export type StackTemplate = ReturnType<typeof readableTemplate>

/** As `cdk synth` makes the stacks, without bundled functions. */
export function synthesised(stage: string | DeployedStage): StackTemplate {
  const settings = typeof stage === 'string' ? deployedStage(stage) : stage
  return madeOnce('all', settings, (app) => addStacks(app, settings))
}

function madeOnce(part: string, stage: DeployedStage, addTo: (app: App) => void) {
  const key = part + JSON.stringify(stage)
  const template = made.get(key) ?? readableTemplate(rawStacks(addTo))
  made.set(key, template)
  return template
}

function readableTemplate({ Resources, Outputs, ...synthesis }: ReturnType<typeof rawStacks>) {
  const resources = Object.entries(Resources).map(([logicalId, raw]) => ({
    logicalId,
    type: raw.Type,
    properties: Object.fromEntries(
      Object.entries(raw.Properties ?? {}).map(([name, value]) => [
        name,
        readable(value, { Resources, Outputs }),
      ]),
    ),
    deletionPolicy: raw.DeletionPolicy,
    updatePolicy: readable(raw.UpdatePolicy, { Resources, Outputs }),
    dependsOn: [raw.DependsOn ?? []].flat(),
  }))
  const ofType = (type: string) => resources.filter((resource) => resource.type === type)
  const all = (type: string) => ofType(type).map(({ properties }) => properties)
  const only = (type: string) => {
    const [resource, ...others] = ofType(type)
    if (!resource || others.length > 0)
      throw new Error(`there are ${others.length + (resource ? 1 : 0)} of ${type}`)
    return resource
  }
  return {
    ...synthesis,
    resources,
    outputs: Outputs,
    ofType,
    only,
    all,
    each: (type: string, property: string) => all(type).map((properties) => properties[property]),
  }
}

type RawTemplate = {
  readonly Resources: Readonly<Record<string, RawResource>>
  readonly Outputs: Properties
}

/** Leaves out what takes most of the time, and no template shows. */
function rawStacks(addTo: (app: App) => void) {
  const outdir = mkdtempSync(join(tmpdir(), 'gateway-synth-'))
  const context = { ...cdkJson.context, 'aws:cdk:bundling-stacks': [] }
  try {
    const app = new App({
      outdir,
      context,
      builtinCloudFormationValidation: false,
      stackTraces: false,
      treeMetadata: false,
    })
    addTo(app)
    const all = app.node.children.filter((child) => Stack.isStack(child))
    const [first, ...others] = all
    if (!first) throw new Error('there is no stack')
    const stacks = [first, ...others.filter(({ region }) => region === first.region)]
    const assembly = app.synth()
    const templates = stacks.map((stack): Partial<RawTemplate> => {
      const { Resources, Outputs } = Template.fromStack(stack).toJSON()
      return JSON.parse(JSON.stringify({ Resources, Outputs }))
    })
    const messages = stacks.flatMap((stack) => assembly.getStackByName(stack.stackName).messages)
    const { Resources, Outputs }: RawTemplate = {
      Resources: Object.assign({}, ...templates.map((template) => template.Resources)),
      Outputs: Object.assign({}, ...templates.map((template) => template.Outputs)),
    }
    return {
      /** All stacks of the stage, also in another region. */
      app,
      assembly,
      Resources,
      Outputs,
      sizes: Object.fromEntries(
        stacks.map(({ stackName }, at) => [
          stackName,
          Object.keys(templates[at]?.Resources ?? {}).length,
        ]),
      ),
      /** Which stack reads outputs of which. */
      references: new Set(
        stacks.flatMap(({ stackName }, at) => {
          const text = JSON.stringify(templates[at])
          const names = text.matchAll(/"Fn::GetStackOutput":\{"StackName":"([^"]+)"/g)
          return [...names].map(([, name]) => `${stackName} reads ${name}`)
        }),
      ),
      messages: messages.map(
        ({ level, id, entry }) => `${level} ${id}: ${JSON.stringify(entry.data)}`,
      ),
    }
  } finally {
    rmSync(outdir, { recursive: true })
  }
}

/** Writes references as `<name>.Arn` or `<name>`, and joins as text. */
function readable(value: unknown, { Resources, Outputs }: RawTemplate): unknown {
  if (Array.isArray(value)) return value.map((item) => readable(item, { Resources, Outputs }))
  if (typeof value !== 'object' || value === null) return value
  const entries = Object.entries(value)
  const [only] = entries
  if (entries.length === 1 && only) {
    const [word, operand] = only
    if (word === 'Ref') return `<${nameOf(String(operand), Resources)}>`
    if (word === 'Fn::GetAtt' && Array.isArray(operand)) {
      return `<${nameOf(String(operand[0]), Resources)}>.${String(operand[1])}`
    }
    if (word === 'Fn::Select') return partOfAlias(operand, { Resources, Outputs }) ?? value
    // The output of another stack is in that stack's outputs.
    if (word === 'Fn::GetStackOutput')
      return readable(Object(Outputs[String(Object(operand)['OutputName'])])['Value'], {
        Resources,
        Outputs,
      })
    if (word === 'Fn::Join' && Array.isArray(operand) && Array.isArray(operand[1])) {
      const text = operand[1]
        .map((part) => String(readable(part, { Resources, Outputs })))
        .join(String(operand[0]))
      return byName(text, Resources)
    }
  }
  return Object.fromEntries(
    entries.map(([key, item]) => [key, readable(item, { Resources, Outputs })]),
  )
}

function nameOf(logicalId: string, resources: Readonly<Record<string, RawResource>>) {
  const properties = resources[logicalId]?.Properties ?? {}
  const named = ['FunctionName', 'QueueName', 'TopicName', 'TableName', 'LogGroupName']
  const name = named
    .map((property) => properties[property])
    .find((value) => typeof value === 'string')
  const type = resources[logicalId]?.Type
  // A stage has one key at most.
  if (type === 'AWS::KMS::Key') return 'key'
  return name ?? (type === 'AWS::SecretsManager::Secret' ? String(properties['Name']) : logicalId)
}

/** CDK takes the names of function and alias out of the ARN of an alias. */
function partOfAlias(operand: unknown, template: RawTemplate) {
  const [at, { 'Fn::Split': [, { Ref: id = '' } = {}] = [] }] = [operand].flat() as [
    number,
    Record<string, { Ref?: string }[]>,
  ]
  const { Type, Properties } = template.Resources[id] ?? {}
  if (Type !== 'AWS::Lambda::Alias') return undefined
  return at === 6 ? readable(Properties?.['FunctionName'], template) : Properties?.['Name']
}

const NAMED_ARN =
  /^arn:<AWS::Partition>:(sqs|sns|dynamodb):<AWS::Region>:<AWS::AccountId>:(?:table\/)?([\w-]+)/
const QUEUE_URL = /^https:\/\/sqs\.<AWS::Region>\.<AWS::URLSuffix>\/<AWS::AccountId>\/([\w-]+)$/

/**
 * Stacks refer to another stack's queues, topics and tables by name. Such names become references.
 */
function byName(text: string, resources: Readonly<Record<string, RawResource>>) {
  const [arn, service, named = QUEUE_URL.exec(text)?.[1]] = NAMED_ARN.exec(text) ?? []
  if (named === undefined || !Object.keys(resources).some((id) => nameOf(id, resources) === named))
    return text
  return arn === undefined
    ? `<${named}>`
    : text.replace(arn, service === 'sns' ? `<${named}>` : `<${named}>.Arn`)
}

export function synthesisedFront(stage: DeployedStage) {
  return madeOnce('front', stage, (app) => new FrontStack(app, stage))
}

export function synthesisedCopies(stage: DeployedStage) {
  const { copies } = stage
  if (!copies) throw new Error('the stage has no copies')
  return madeOnce('copies', stage, (app) => new CopiesStack(app, stage, copies))
}

export function watchedIn(stage: string) {
  const gateway = synthesised(stage).app.node.children.find(
    (child) => child instanceof GatewayStack,
  )
  if (!gateway) throw new Error('there is no gateway')
  return gateway.watched
}

export function watchedFrontIn(stage: DeployedStage): WatchedFront {
  const context = { ...cdkJson.context, 'aws:cdk:bundling-stacks': [] }
  return new FrontStack(new App({ context }), stage).watched
}

export type Resource = StackTemplate['resources'][number]
