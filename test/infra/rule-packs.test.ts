/**
 * Goal: what others have learnt to look for in a stack is not in this one, or has a written reason.
 * Method: three packs of cdk-nag on every stage option; each finding must have its reason, and each reason a finding.
 * They know neither `TableV2` nor our manifest: what they do not see is asserted in the other tests of this folder.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { App, Stack } from 'aws-cdk-lib'
import { AwsSolutionsChecks, PCIDSS321Checks, ServerlessChecks } from 'cdk-nag'
import { afterAll, describe, expect, it } from 'vitest'
import cdkJson from '../../cdk.json' with { type: 'json' }
import { addStacks } from '../../infra/stack/add-stacks.ts'
import type { DeployedStage } from '../../infra/stack/stage.ts'
import { OPTIONAL_STAGES } from '../support/stage-options.ts'
import { type Reason, reasonsFor } from './rule-pack-reasons.ts'

const PACKS = { AwsSolutionsChecks, ServerlessChecks, PCIDSS321Checks } as const

type Finding = { readonly rule: string; readonly path: string }

const directory = mkdtempSync(join(tmpdir(), 'gateway-packs-'))

afterAll(() => {
  rmSync(directory, { recursive: true })
})

/** The same words for every stage, and for the table whatever its logical id is. */
const neutral = (rule: string, stage: string) =>
  rule
    .replaceAll(`gateway/${stage}/`, 'gateway/STAGE/')
    .replaceAll(`gateway-${stage}-`, 'gateway-STAGE-')
    .replace(/<Table\w+\.Arn>/, '<TABLE.Arn>')

const findingsIn = (app: App, stack: Stack, stage: DeployedStage): readonly Finding[] =>
  Object.values(PACKS).flatMap((Pack) =>
    new Pack(app).validateScope(stack).violations.flatMap(({ ruleName, violatingResources }) =>
      violatingResources.map(({ constructPath = '' }) => ({
        rule: neutral(ruleName, stage.settings.name),
        path: constructPath.replace(`${stack.stackName}/`, ''),
      })),
    ),
  )

const checkedStacks = Object.entries(OPTIONAL_STAGES).flatMap(([what, stage]) => {
  const app = new App({ outdir: directory, context: { ...cdkJson.context, 'aws:cdk:bundling-stacks': [] } })
  addStacks(app, stage)
  // What the stack does to all of its parts, such as encrypting every log, is done while synthesising.
  app.synth()
  return app.node.children
    .filter((child) => Stack.isStack(child))
    .map((stack) => ({
      what: stack.stackName.endsWith('-front') ? `the front of ${what}` : what,
      reasons: reasonsFor(stage, stack.stackName.endsWith('-front') ? 'front' : 'gateway'),
      findings: findingsIn(app, stack, stage),
    }))
})

const explains = ({ rule, where }: Reason, finding: Finding) => rule === finding.rule && where.test(finding.path)

describe('the rule packs AwsSolutions, Serverless and PCI', () => {
  it.each(checkedStacks)('find nothing without a written reason in $what', ({ findings, reasons }) => {
    expect(findings.filter((finding) => !reasons.some((reason) => explains(reason, finding)))).toStrictEqual([])
  })

  it.each(checkedStacks)('find everything in $what that a reason is written for', ({ findings, reasons }) => {
    expect(reasons.filter((reason) => !findings.some((finding) => explains(reason, finding)))).toStrictEqual([])
  })

  it('look at both stacks of a stage, and at each option', () => {
    expect(checkedStacks.map(({ what }) => what)).toStrictEqual(
      expect.arrayContaining([...Object.keys(OPTIONAL_STAGES), 'the front of prod with everything']),
    )
  })
})
