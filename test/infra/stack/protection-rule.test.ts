import { expect, it } from 'vitest'
import { synthesised, synthesisedCopies } from '../../support/stack-template.ts'
import { READY_PRODUCTION } from '../../support/stage-options.ts'

type Pattern = Readonly<Record<string, unknown>>

/** Whether the rule's pattern fits `detail` of an event of CloudTrail, as EventBridge matches. */
function isTold(detail: Pattern) {
  const rule = synthesised('prod')
    .all('AWS::Events::Rule')
    .find(({ Name }) => Name === 'gateway-prod-protection')
  return fits(Object(rule?.['EventPattern']).detail, detail)
}

function fits(pattern: Pattern, event: Pattern): boolean {
  return Object.entries(pattern).every(([name, wanted]) => {
    if (name === '$or') return (wanted as readonly Pattern[]).some((one) => fits(one, event))
    const value = event[name]
    return Array.isArray(wanted)
      ? wanted.some((one) => fitsValue(one, value))
      : fits(Object(wanted), Object(value))
  })
}

function fitsValue(wanted: unknown, value: unknown) {
  if (typeof wanted !== 'object') return wanted === value
  const { exists, numeric } = Object(wanted)
  if (numeric === undefined) return exists === (value !== undefined)
  return numeric[0] === '<' && typeof value === 'number' && value < numeric[1]
}

function recoveryOf(specification: object) {
  return {
    eventName: 'UpdateContinuousBackups',
    requestParameters: { pointInTimeRecoverySpecification: specification },
  }
}

it.each([
  ['a trail is stopped', { eventName: 'StopLogging' }],
  [
    'a trail writes to another bucket, without the lock',
    { eventName: 'UpdateTrail', requestParameters: { s3BucketName: 'elsewhere' } },
  ],
  ['the recovery is turned off', recoveryOf({ pointInTimeRecoveryEnabled: false })],
  [
    'the recovery is shortened to 34 days',
    recoveryOf({ pointInTimeRecoveryEnabled: true, recoveryPeriodInDays: 34 }),
  ],
])('operators are told when %s', (_, detail) => {
  expect(isTold(detail)).toBe(true)
})

it.each([
  ['a call was refused', { eventName: 'StopLogging', errorCode: 'AccessDenied' }],
  [
    'a restored table gets the whole recovery',
    recoveryOf({ pointInTimeRecoveryEnabled: true, recoveryPeriodInDays: 35 }),
  ],
  ['the recovery keeps its period', recoveryOf({ pointInTimeRecoveryEnabled: true })],
])('operators are not told when %s', (_, detail) => {
  expect(isTold(detail)).toBe(false)
})

/** AWS: "You can't use Condition blocks in Amazon SNS topic policies for EventBridge." */
it.each([
  ['alerts', synthesised(READY_PRODUCTION)],
  ['copies-pages', synthesisedCopies(READY_PRODUCTION)],
])('EventBridge may write to the topic %s without a condition, and to no other', (name, stacks) => {
  const policies = JSON.stringify(stacks.all('AWS::SNS::TopicPolicy'))

  expect(policies.split('events.amazonaws.com')).toHaveLength(2)
  expect(policies).toContain(
    `{"Action":"sns:Publish","Effect":"Allow","Principal":{"Service":"events.amazonaws.com"},"Resource":"<gateway-prod-${name}>"`,
  )
})
