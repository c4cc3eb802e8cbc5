import { spawnSync } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { DAILY_TIMES, type TimeOfDay } from '../../functions/daily-times.ts'
import { DUTIES, functionName } from '../../functions/function-spec.ts'
import { MANIFEST } from '../../functions/manifest.ts'
import { withWritten } from '../../infra/local/terminal/with-written.ts'
import { describeAction } from '../../infra/operate/admin/action.ts'
import { hiddenSecondsOf, QUEUE_SETTINGS } from '../../infra/stack/settings/queue-settings.ts'
import { deployedStage } from '../../infra/stack/stage.ts'
import { StageFileSchema } from '../../infra/stack/stage-file.ts'
import { FEE_WAIT_MS } from '../../shared/posting/assume-fee.ts'
import { CACHE_MS } from '../../shared/runtime/aws/kept-secrets.ts'
import { ELIGIBLE_AGE_MS } from '../../shared/settlement/settlement.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../shared/time.ts'
import { ALERT_EVERY_MS } from '../../shared/webhook/delivery/alert-abandoned.ts'
import { WAITS_MS } from '../../shared/webhook/send/record-attempt-result.ts'
import { runbookEntries } from '../runbook-entries.ts'
import { askedOf } from '../support/admin-command.ts'
import { alarmsIn } from '../support/alarm-template.ts'
import { anchorsOf, matchesIn } from '../support/document-blocks.ts'
import { projectText } from '../support/source-file.ts'
import {
  synthesised,
  synthesisedFront,
  watchedFrontIn,
  watchedIn,
} from '../support/stack-template.ts'
import { READY_PRODUCTION } from '../support/stage-options.ts'

const template = synthesised('prod')
const front = synthesisedFront(READY_PRODUCTION)
const operations = projectText('docs/operations.md')
const runbook = projectText('docs/runbook.md')

it('SECURITY.md names the functions that may put items of each kind', () => {
  const rows = matchesIn(projectText('SECURITY.md'), /^\| `([A-Z]+)` \| (?=`)/gm)
  const functionsOf = (kind: string) =>
    matchesIn(
      matchesIn(
        projectText('SECURITY.md'),
        new RegExp(`^\\| \`${kind}\` \\| ([^|]*) \\|`, 'gm'),
      ).join(),
      /`([a-z-]+)`/g,
    )
  const putters = new Map<string, string[]>()
  for (const { name, table } of MANIFEST)
    for (const kind of table.PutItem ?? []) putters.set(kind, [...(putters.get(kind) ?? []), name])

  expect(new Map(rows.map((kind) => [kind, functionsOf(kind).toSorted()]))).toStrictEqual(
    new Map([...putters].map(([kind, names]) => [kind, names.toSorted()])),
  )
})

describe('the runbook', () => {
  it('has the entries that `npm run runbook -- --write` writes, and is short', () => {
    expect(
      withWritten(
        runbook,
        'runbook',
        runbookEntries(watchedIn('prod'), watchedFrontIn(deployedStage('prod')), runbook),
      ),
    ).toBe(runbook)
    expect(runbook.split('\n').length).toBeLessThanOrEqual(850)
  })

  it('says for every alarm what to look at and what to do', () => {
    const entries = matchesIn(runbook, /^## ([\s\S]*?)(?=\n#{1,2} |\n<!-- end)/gm).filter((entry) =>
      /^- `/m.test(entry),
    )

    expect(entries.length).toBeGreaterThan(20)
    expect(
      entries.filter((entry) => !/\*\*Look\*\*\s+\S[\s\S]*\*\*Do\*\* \S/.test(entry)),
    ).toStrictEqual([])
  })

  it('has a heading for the link of every alarm description', () => {
    const descriptions = ['AWS::CloudWatch::Alarm', 'AWS::CloudWatch::CompositeAlarm']
      .flatMap((type) => [template, front].flatMap((stack) => stack.ofType(type)))
      .flatMap(({ properties }) =>
        matchesIn(String(properties['AlarmDescription']), /docs\/runbook\.md#([\w-]+)$/g),
      )

    expect(descriptions.filter((anchor) => !anchorsOf(runbook).includes(anchor))).toStrictEqual([])
    expect(descriptions).toStrictEqual(
      expect.arrayContaining(['page', 'quiet', 'creates-answered']),
    )
  })

  it('lists every paging alarm, and explains how to roll back', () => {
    const pages = [template, front]
      .flatMap((stack) => stack.each('AWS::CloudWatch::CompositeAlarm', 'AlarmName'))
      .map(String)

    expect(pages.length).toBeGreaterThan(3)
    expect(matchesIn(runbook, /^\| `(gateway-prod-page-[a-z-]+)` \|/gm)).toStrictEqual(pages)
    expect(anchorsOf(runbook)).toContain('roll-back')
  })

  it('queries access logs in log groups that exist', () => {
    const queriedGroups = matchesIn(
      runbook,
      /^ask \d+ 'filter [^']*\b(?:ip|integration_error)\b[^']*' \\\n(.+)$/gm,
    )
    const groups = [template, front].flatMap((stackTemplate) =>
      stackTemplate.each('AWS::Logs::LogGroup', 'LogGroupName'),
    )

    expect(queriedGroups.length).toBeGreaterThan(3)
    expect(queriedGroups.filter((group) => !groups.includes(group.trim()))).toStrictEqual([])
  })

  it('names the client in every action that needs a client, also within sentences', () => {
    const withinSentences = matchesIn(
      runbook,
      /`((?:update-client|revoke-api-key|issue-api-key) --[^`]*)`/g,
    )

    expect(withinSentences.length).toBeGreaterThan(1)
    expect(withinSentences.filter((command) => !command.includes('--client_id '))).toStrictEqual([])
  })

  it('gives commands of the operator tool that parse, with fields that exist', async () => {
    const commands = matchesIn(runbook, /npm run -s admin -- (.+?)(?: # [a-z]+)?$/gm)
    expect(commands.length).toBeGreaterThan(10)

    for (const command of commands) {
      const [action = '', ...args] = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(
        ([, quoted, bare]) => quoted ?? bare ?? '',
      )
      const spec = MANIFEST.find(({ name }) => name === action)
      if (!spec) throw new Error(`the runbook gives an action that does not exist: ${action}`)
      const actionSpec = await describeAction(spec)
      const { asked, error } = askedOf(actionSpec, args, 'an operator')

      expect([command, error, asked?.stage]).toStrictEqual([command, '', 'prod'])
      const required = (actionSpec.fields ?? []).filter((field) => field.required)
      const missingFields = required.filter(
        ({ name }) => !((name.split('.')[0] ?? name) in Object(asked?.payload)),
      )
      expect([command, missingFields.map(({ name }) => name)]).toStrictEqual([command, []])
    }
  })
})

it.each([
  ['the runbook', runbook, 10],
  ['docs/operations.md', operations, 1],
])(
  'the runbook and docs/operations.md name only functions and rules that exist: %s',
  (_, text, least) => {
    const names = [
      ...MANIFEST.map((spec) => functionName('prod', spec)),
      watchedFrontIn(deployedStage('prod')).probe,
    ]
    const named = matchesIn(
      text,
      /(?:\/aws\/lambda\/|--function-name |--name )(gateway-prod-[a-z-]*[a-z])/g,
    )

    expect(named.length).toBeGreaterThan(least)
    expect(named.filter((name) => !names.includes(name))).toStrictEqual([])
  },
)

describe('docs/operations.md', () => {
  it('names every action once in the table of actions, and the policy of every duty', () => {
    const actions = MANIFEST.flatMap(({ name, trigger }) =>
      trigger.kind === 'operator' ? [name] : [],
    )
    const [actionTable = ''] = matchesIn(operations, /^\| For \| Actions \|\n([^]*?)\n\n/gm)
    const listed = matchesIn(actionTable, /^\| [a-z ]+ \| (.*) \|$/gm).flatMap((cell) =>
      cell.replaceAll(/ \([^)]*\)/g, '').split(', '),
    )

    expect(listed.toSorted()).toStrictEqual(actions.toSorted())
    expect(matchesIn(operations, /^\| `gateway-prod-([a-z]+)` \|/gm).toSorted()).toStrictEqual(
      [...Object.keys(DUTIES), 'deploy', 'oncall'].toSorted(),
    )
  })

  it('lists every option of a stage', () => {
    const [options = ''] = matchesIn(operations, /^\| Option \| Value \|\n([^]*?)\n\n/gm)
    const listed = matchesIn(options, /^\| ([^|]*) \|/gm).flatMap((cell) =>
      matchesIn(cell, /`(\w+)[.\w]*`/g),
    )

    expect(Object.keys(StageFileSchema.entries).filter((name) => !listed.includes(name))).toEqual(
      [],
    )
  })

  it('names every schedule that can be invoked by hand', () => {
    const schedules = MANIFEST.filter(({ trigger }) => trigger.kind === 'schedule')
    const [listed = ''] = matchesIn(operations, /^- The schedules (.*) can be invoked by hand\.$/gm)

    expect(listed.split(/, | and /).toSorted()).toStrictEqual(
      schedules.map(({ name }) => name).toSorted(),
    )
  })

  it('gives shell that a shell can read', () => {
    const blocks = matchesIn(operations, /^ *```sh\n([\s\S]*?)^ *```$/gm)
    const broken = blocks.filter((block) => spawnSync('sh', ['-n'], { input: block }).status !== 0)

    expect(blocks.length).toBeGreaterThan(10)
    expect(broken).toStrictEqual([])
  })

  it('removes every global name of IAM before a stack in another region needs it', () => {
    const named = template.resources
      .filter(({ type }) => type.startsWith('AWS::IAM::'))
      .flatMap(({ properties }) =>
        ['ManagedPolicyName', 'RoleName'].map((name) => properties[name]),
      )
      .filter((name) => name !== undefined)
    const removedDuties = matchesIn(operations, /for duty in ([a-z ]+); do/g).flatMap((duties) =>
      duties.split(' '),
    )

    expect(named.length).toBeGreaterThan(0)
    expect(removedDuties.map((duty) => `gateway-prod-${duty}`).toSorted()).toStrictEqual(
      named.map(String).toSorted(),
    )
  })
})

const [retentionDays, ...otherRetentions] = new Set(
  template.each('AWS::Logs::LogGroup', 'RetentionInDays'),
)
const quiet = alarmsIn(template, 'prod').find(({ id }) => id === 'quiet')
const quietMinutes = (quiet?.metrics[0]?.periodSeconds ?? 0) / 60
const [suppressedAfter] = template.each(
  'AWS::CloudWatch::CompositeAlarm',
  'ActionsSuppressorWaitPeriod',
)
const sweepTime = clockTime(DAILY_TIMES.sweepAtUtc)
const settlementTries = QUEUE_SETTINGS.settlements.maxReceives

it.each([
  ['docs/runbook.md', `Logs are kept for ${Number(retentionDays)} days.`],
  [
    'docs/runbook.md',
    `for ${quietMinutes} minutes, beginning within ${Number(suppressedAfter) / 60} minutes`,
  ],
  ['docs/runbook.md', `Each delivery is tried ${WAITS_MS.length + 1} times.`],
  [
    'docs/runbook.md',
    `is tried again after ${hiddenSecondsOf('settlements') / 60} minutes, ${settlementTries} times in all`,
  ],
  ['docs/operations.md', `Functions keep a secret for ${CACHE_MS / MINUTE_MS} minutes.`],
  [
    'docs/operations.md',
    `after attempt ${WAITS_MS.length + 1}; at most one message in ${ALERT_EVERY_MS / MINUTE_MS} minutes`,
  ],
  [
    'docs/merchants/payments.md',
    `where the provider did not say within ${FEE_WAIT_MS / DAY_MS} days`,
  ],
  ['docs/merchants/settlements.md', `${ELIGIBLE_AGE_MS / HOUR_MS} hours after it was paid`],
  ['README.md', `${sweepTime} UTC (stage setting \`sweepAtUtc\`)`],
  ['docs/merchants/settlements.md', `every day at ${sweepTime} UTC`],
  ['docs/operations.md', `The local gateway sweeps at ${sweepTime}.`],
  ['docs/operations.md', `after the sweep, ${sweepTime} UTC unless \`sweepAtUtc\` says otherwise`],
  [
    'docs/merchants.md',
    `${deployedStage('prod').settings.keyLifetimeDays} days unless agreed otherwise`,
  ],
])('%s states the value of the setting: %s', (document, sentence) => {
  expect(otherRetentions).toStrictEqual([])
  expect(projectText(document)).toContain(sentence)
})

it.each(Object.entries(DAILY_TIMES))(
  'docs/operations.md states the time of %s that a stage has by default',
  (name, time) => {
    const [row] = matchesIn(operations, new RegExp(`^\\| \`${name}\` \\| (.*) \\|$`, 'gm'))

    expect(row).toContain(`in UTC; left out: ${clockTime(time)}, as in \`prod\``)
  },
)

it('production sweeps and audits at the times that the documents state', () => {
  expect(deployedStage('prod')).toMatchObject(DAILY_TIMES)
})

it('a lost region’s stage is open before the steps need what a closed stage refuses', () => {
  const [steps = ''] = matchesIn(operations, /^## 8\. ([\s\S]*?)^## 9\. /gm)
  const open = steps.search(/^\d+\..*\bopen the stage\b/m)
  const refused = steps.search(/`(check-due-work|sync-provider-transactions|trigger-settlement)`/)

  expect([open > 0, refused > open]).toStrictEqual([true, true])
})

function clockTime({ hour, minute }: TimeOfDay) {
  return [hour, minute].map((part) => String(part).padStart(2, '0')).join(':')
}
