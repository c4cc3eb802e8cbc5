/**
 * Goal: every change of what a stage deploys is seen and reviewed. Method: test/infra/templates has
 * a line for each resource; a wanted change is written there by `npm test --
 * test/infra/templates.test.ts -u`.
 */
import { expect, it } from 'vitest'
import {
  type Resource,
  type StackTemplate,
  synthesised,
  synthesisedCopies,
  synthesisedFront,
} from '../support/stack-template.ts'
import { EVERYTHING, READY_PRODUCTION } from '../support/stage-options.ts'

/**
 * Digests change with each release. Other tests compare the dashboard and the descriptions of
 * alarms.
 */
const LEFT_OUT: Readonly<Record<string, readonly string[]>> = {
  'AWS::Lambda::Function': ['Code'],
  'AWS::CloudWatch::Dashboard': ['DashboardBody'],
  'AWS::CloudWatch::Alarm': ['AlarmDescription'],
}
const DIGEST = /[0-9a-f]{64}|(?<=ReleaseProof)[0-9a-f]{16}|(?<=CurrentVersion\w{8})[0-9a-f]{32}/g

/** Permissions of functions, which stack/grants.test.ts compares with the manifest. */
function isAccess({ type, logicalId, properties }: Resource, property: string) {
  return (
    type === 'AWS::IAM::Role' &&
    property === 'Policies' &&
    logicalId.startsWith('Functions') &&
    !JSON.stringify(properties).includes('"ec2:')
  )
}

function lineOf(resource: Resource) {
  const { type, logicalId, properties, deletionPolicy, updatePolicy } = resource
  const shownProperties = Object.entries(properties).filter(
    ([name]) => name !== 'Tags' && !LEFT_OUT[type]?.includes(name) && !isAccess(resource, name),
  )
  const deletionText = deletionPolicy === undefined ? '' : ` (${deletionPolicy})`
  const updateText = updatePolicy === undefined ? '' : ` ${JSON.stringify(updatePolicy)}`
  return `${type.replace(/^AWS::/, '')} ${logicalId}${deletionText} ${JSON.stringify(Object.fromEntries(shownProperties))}${updateText}`
}

function stackLines({ assembly }: StackTemplate) {
  return assembly.stacks.map(
    ({ stackName, terminationProtection: isProtected = false }) =>
      `Stack ${stackName}${isProtected ? ' (protected from deletion)' : ''}`,
  )
}

function linesOf(...templates: readonly StackTemplate[]) {
  return templates
    .flatMap(({ resources, outputs }) => [
      ...resources.map(lineOf),
      ...Object.entries(outputs).map(
        ([name, output]) => `Output ${name} ${JSON.stringify(Object(output).Value)}`,
      ),
    ])
    .map((line) => line.replaceAll(DIGEST, '…'))
    .toSorted()
}

const readyTemplate = synthesised(READY_PRODUCTION)
const PROD = [
  ...linesOf(
    readyTemplate,
    synthesisedFront(READY_PRODUCTION),
    synthesisedCopies(READY_PRODUCTION),
  ),
  ...stackLines(readyTemplate),
]

it.each([
  ['dev', [...linesOf(synthesised('dev')), ...stackLines(synthesised('dev'))]],
  ['prod', PROD],
  ['webhook-egress', linesOf(synthesised(EVERYTHING)).filter((line) => !PROD.includes(line))],
])('the resources of %s are the reviewed resources', async (name, lines) => {
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`templates/${name}.txt`)
})
