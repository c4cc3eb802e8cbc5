import { execFile } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { App } from 'aws-cdk-lib'
import type { CloudAssembly } from 'aws-cdk-lib/cx-api'
import cdkJson from '../../../cdk.json' with { type: 'json' }
import { addStacks } from '../../../infra/stack/add-stacks.ts'
import { stackNameOf } from '../../../infra/stack/stack-name-of.ts'
import type { DeployedStage } from '../../../infra/stack/stage.ts'
import { PROJECT_ROOT } from '../../support/source-file.ts'

type Resource = { readonly Type: string; readonly Properties?: object }
type Lambda = {
  readonly FunctionName: string
  readonly Handler: string
  readonly Code: { readonly S3Key: string }
  readonly Environment: { readonly Variables: object }
}

export type BundledFunction = {
  readonly file: string
  /** The template's variables. What refers to a resource is an address where nothing answers. */
  readonly environment: Readonly<Record<string, string>>
}

/** Every function of a stage, bundled as `cdk deploy` bundles it, by deployed name. */
export const bundledStage = (stage: DeployedStage, outdir: string): ReadonlyMap<string, BundledFunction> => {
  const app = new App({ outdir, context: cdkJson.context, builtinCloudFormationValidation: false })
  addStacks(app, stage)
  return bundlesIn(app.synth(), stage)
}

/** With what Lambda adds, and the address of a table that answers every read with nothing. */
export const lambdaEnvironment = ({ environment }: BundledFunction, tableUrl: string) => ({
  ...environment,
  AWS_REGION: 'ap-southeast-3',
  AWS_ACCESS_KEY_ID: 'none',
  AWS_SECRET_ACCESS_KEY: 'none',
  AWS_ENDPOINT_URL_DYNAMODB: tableUrl,
})

/** Every function of a stage in an assembly, by deployed name. */
export const bundlesIn = (assembly: CloudAssembly, stage: DeployedStage): ReadonlyMap<string, BundledFunction> => {
  const templates = ['data', undefined, 'operators'].map(
    (part) =>
      assembly.getStackByName(stackNameOf(stage, part)).template as { readonly Resources: Record<string, Resource> },
  )
  const Resources: Record<string, Resource> = Object.assign({}, ...templates.map((template) => template.Resources))
  const lambdas = Object.values(Resources).filter(({ Type }) => Type === 'AWS::Lambda::Function')
  return new Map(
    lambdas.map(({ Properties }) => {
      const { FunctionName, Handler, Code, Environment } = Properties as Lambda
      const variables = Object.entries(Environment.Variables).map(([name, value]) => [
        name,
        typeof value === 'string' ? value : 'https://aws.invalid/',
      ])
      const file = join(assembly.directory, `asset.${Code.S3Key.replace('.zip', '')}`, `${Handler.split('.')[0]}.mjs`)
      return [FunctionName, { file, environment: Object.fromEntries(variables) }]
    }),
  )
}

/** Synthesises as `npm run synth` does, without the check against CloudFormation's schemas. Returns what it printed. */
export const synthesisedByCommand = async (stage: string, outdir: string): Promise<string> => {
  const { stdout, stderr } = await promisify(execFile)(process.execPath, ['infra/app.ts'], {
    cwd: PROJECT_ROOT,
    env: {
      ...process.env,
      CDK_OUTDIR: outdir,
      CDK_CONTEXT_JSON: JSON.stringify({ ...cdkJson.context, stage }),
      CDK_VALIDATION: 'false',
    },
    maxBuffer: 64 * 1024 * 1024,
  })
  return `${stdout}${stderr}`
}

/** The files of an assembly that decide what is deployed: templates and lists of assets, whose names are hashes. */
export const assemblyFiles = (directory: string): Readonly<Record<string, string>> =>
  Object.fromEntries(
    readdirSync(directory)
      .filter((name) => name.endsWith('.template.json') || name.endsWith('.assets.json'))
      .map((name) => [name, readFileSync(join(directory, name), 'utf8')]),
  )
