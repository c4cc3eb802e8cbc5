/**
 * Goal: the stack has no weakness that public rule packs know, unless a reason is written. Method:
 * three packs of cdk-nag check a stage without options and a stage with all options; the nightly
 * run checks each option too. Each finding must have a reason, and each reason a finding. The packs
 * know neither `TableV2` nor our manifest: other tests of this folder check them.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { App, Stack } from 'aws-cdk-lib'
import { AwsSolutionsChecks, PCIDSS321Checks, ServerlessChecks } from 'cdk-nag'
import { describe, expect, it } from 'vitest'
import cdkJson from '../../cdk.json' with { type: 'json' }
import { addStacks } from '../../infra/stack/add-stacks.ts'
import { type DeployedStage, stackNameOf } from '../../infra/stack/stage.ts'
import { isNightly } from '../support/runs.ts'
import { synthesised } from '../support/stack-template.ts'
import { EVERYTHING, OPTIONAL_STAGES } from '../support/stage-options.ts'
import { tempDirectory } from '../support/temp-directory.ts'
import { type Reason, reasonsFor } from './rule-pack-reasons.ts'

type Finding = { readonly rule: string; readonly path: string }

function findingsIn(app: App, stack: Stack, stage: string) {
  return [AwsSolutionsChecks, ServerlessChecks, PCIDSS321Checks].flatMap((Pack) =>
    new Pack(app)
      .validateScope(stack)
      .violations.flatMap(({ ruleName, violatingResources }) =>
        violatingResources.map(({ constructPath = '' }) => ({
          rule: ruleName.replace(`gateway-${stage}`, 'gateway-STAGE'),
          path: constructPath.replace(`${stack.stackName}/`, ''),
        })),
      ),
  )
}

function partOf({ stackName }: Stack, stage: DeployedStage) {
  return /-(front|watch)$/.exec(stackName.replace(stackNameOf(stage), ''))?.[1] ?? 'gateway'
}

const checkedStages = Object.entries(OPTIONAL_STAGES).filter(
  ([what]) => isNightly || what === 'dev' || what === 'prod with everything',
)

const checkedStacks = checkedStages.flatMap(([what, stage]) => {
  const { app } = synthesised(stage)
  const stacks = app.node.children.filter((child) => Stack.isStack(child))
  return [...Map.groupBy(stacks, (stack) => partOf(stack, stage))].map(([part, ofPart]) => ({
    what: `the ${part} of ${what}`,
    reasons: reasonsFor(stage, part),
    findings: ofPart.flatMap((stack) => findingsIn(app, stack, stage.settings.name)),
  }))
})

function explains([rule, [where]]: Reason, finding: Finding) {
  return rule === finding.rule && where.test(finding.path)
}

describe('the rule packs AwsSolutions, Serverless and PCI', () => {
  it.each(checkedStacks)(
    'find in $what exactly the findings that have a written reason',
    ({ findings, reasons }) => {
      expect(
        findings.filter((finding) => !reasons.some((reason) => explains(reason, finding))),
      ).toStrictEqual([])
      expect(
        reasons.filter((reason) => !findings.some((finding) => explains(reason, finding))),
      ).toStrictEqual([])
    },
  )

  it('look at every stack of a stage', () => {
    const parts = ['gateway', 'front', 'watch'].map((part) => `the ${part} of prod with everything`)

    expect(checkedStacks.map(({ what }) => what)).toStrictEqual(
      expect.arrayContaining([
        ...checkedStages.map(([what]) => `the gateway of ${what}`),
        ...parts,
      ]),
    )
  })
})

it.runIf(isNightly)(
  'a stage with every option passes the check of CloudFormation’s schemas',
  () => {
    const outdir = tempDirectory()
    const app = new App({ outdir, context: { ...cdkJson.context, 'aws:cdk:bundling-stacks': [] } })
    addStacks(app, EVERYTHING)
    app.synth()

    const report: unknown = JSON.parse(readFileSync(join(outdir, 'validation-report.json'), 'utf8'))
    expect(report).toMatchObject({ pluginReports: [] })
  },
)
