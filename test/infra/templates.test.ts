/**
 * Goal: every change of what a stage deploys is seen and reviewed. Method: test/infra/templates has
 * a line for each resource; a wanted change is written there by `npm test --
 * test/infra/templates.test.ts -u`.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import type { DeployedStage } from '../../infra/stack/stage.ts'
import { PROJECT_ROOT } from '../support/source-file.ts'
import {
  type Resource,
  type StackTemplate,
  synthesised,
  synthesisedCopies,
  synthesisedFront,
} from '../support/stack-template.ts'
import { DOMAIN, EVERYTHING, OTHER_FIGURES, READY_PRODUCTION } from '../support/stage-options.ts'

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
const front = synthesisedFront(READY_PRODUCTION)
const copies = synthesisedCopies(READY_PRODUCTION)
const everything = synthesised(EVERYTHING)
const PROD = [...linesOf(readyTemplate, front, copies), ...stackLines(readyTemplate)]

it.each([
  ['dev', [...linesOf(synthesised('dev')), ...stackLines(synthesised('dev'))]],
  ['prod', PROD],
  ['webhook-egress', linesOf(everything).filter((line) => !PROD.includes(line))],
])('the resources of %s are the reviewed resources', async (name, lines) => {
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(`templates/${name}.txt`)
})

function nameOf({ type, properties }: Made) {
  const kind = type.split('::').at(-1) ?? type
  // The names of a plan of backups and of its selection are inside.
  const named = { ...properties, ...Object(properties[kind]) }
  const name = named[`${kind}Name`] ?? named['Name'] ?? named['SelectionName']
  return typeof name === 'string' ? [`${type} ${name}`] : []
}

/** A lost region's stage may come back where its copies or its front are. */
it('all stacks of a stage fit into one region: no two of their resources have one name', () => {
  // An alias belongs to a function, and a domain has a record for each kind of address.
  const names = [everything, front, copies].flatMap(({ resources }) =>
    resources.filter(({ type }) => !/::(Alias|RecordSet)$/.test(type)).flatMap(nameOf),
  )

  expect(names.filter((name, at) => names.indexOf(name) !== at)).toStrictEqual([])
  expect(names.length).toBeGreaterThan(200)
})

function missingIn({ resources }: StackTemplate) {
  const ids = new Set(resources.map(({ logicalId }) => logicalId))
  return everything.resources.filter(({ logicalId }) => !ids.has(logicalId))
}

it.each([
  ['front', front.resources],
  ['webhookEgress', missingIn(readyTemplate)],
])('%s can be turned off and on again: what is kept has no name', (_, resources) => {
  const kept = resources.filter((one) => one.deletionPolicy?.startsWith('Retain'))

  expect(kept.flatMap(nameOf)).toStrictEqual([])
})

/** Every setting is another, except `front` and what another test turns off. */
const CHANGED: DeployedStage = {
  ...READY_PRODUCTION,
  ...OTHER_FIGURES,
  role: 'closed',
  settings: { ...OTHER_FIGURES.settings, name: 'prod' },
  table: { ...OTHER_FIGURES.table, generation: 2 },
  invocationTrail: true,
  alarmRecipients: ['ops@gateway.example'],
  monthlyBudgetUsd: 1,
  copies: { region: 'eu-west-1' },
  domain: DOMAIN,
  front: 'cloudfront',
}

const HOLDS_DATA = /::(GlobalTable|Key|Queue|Secret|Topic|LogGroup|Bucket)$/

// CloudFormation's specification, which the CDK's command contains.
const packed = readFileSync(join(PROJECT_ROOT, 'node_modules/aws-cdk/db.json.gz'))
const { entities } = JSON.parse(gunzipSync(packed).toString()).schema.resource
const SPECIFIED = new Map<string, Record<string, { readonly causesReplacement?: string }>>(
  entities.map((one: Record<string, string>) => [one['cloudFormationType'], one['properties']]),
)

const account = { id: '222222222222', source: '111111111111' }

it.each([
  ['all other settings', CHANGED],
  ['copies in another account', { ...READY_PRODUCTION, copies: { region: 'eu-west-1', account } }],
])('%s lose nothing that holds data, and make nothing under the name of another', (_, changed) => {
  const [before, after] = [resourcesOf(readyTemplate), resourcesOf(synthesised(changed))]
  const lost = [...before].flatMap(([id, one]) => (isSame(one, after.get(id)) ? [] : [one.type]))
  const made = [...after].flatMap(([id, one]) => (isSame(one, before.get(id)) ? [] : [one]))
  const taken = [...before.values()].flatMap(nameOf)

  expect(lost).toContain('AWS::Backup::BackupVault')
  expect(lost.filter((type) => HOLDS_DATA.test(type))).toStrictEqual([])
  expect(made.flatMap(nameOf).filter((name) => taken.includes(name))).toStrictEqual([])
})

type Made = Pick<Resource, 'type' | 'properties'>

/** Whether CloudFormation updates the resource, and does not replace it. */
function isSame({ type, properties }: Made, other: Made | undefined) {
  const specified = Object.entries(SPECIFIED.get(type) ?? {})
  return (
    specified.every(
      ([name, { causesReplacement }]) =>
        !causesReplacement || isDeepStrictEqual(properties[name], other?.properties[name]),
    ) && other !== undefined
  )
}

type Raw = { readonly Type: string; readonly Properties?: Resource['properties'] }

/** With references as they are. */
function resourcesOf({ assembly, sizes }: StackTemplate) {
  const entries = Object.keys(sizes).flatMap((stack) =>
    Object.entries<Raw>(assembly.getStackByName(stack).template.Resources),
  )
  return new Map(
    entries.map(([id, { Type: type, Properties: properties = {} }]) => [id, { type, properties }]),
  )
}
