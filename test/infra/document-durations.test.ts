import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { deployedStage } from '../../infra/stack/stage.ts'
import { hiddenSecondsOf, QUEUE_SETTINGS } from '../../infra/stack/triggers/queue-settings.ts'
import { FEE_WAIT_MS } from '../../shared/posting/assume-fee.ts'
import { CACHE_MS } from '../../shared/runtime/aws/kept-secrets.ts'
import { ELIGIBLE_AGE_MS, NEW_BANK_MS } from '../../shared/settlement/settlement.ts'
import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../shared/time.ts'
import { ALERT_EVERY_MS } from '../../shared/webhook/delivery/tell-abandoned.ts'
import { ATTEMPTS_PER_ROUND } from '../../shared/webhook/send/retry-schedule.ts'
import { alarmsIn } from '../support/alarm-template.ts'
import { PROJECT_ROOT } from '../support/source-file.ts'
import { synthesised } from '../support/stack-template.ts'

const template = synthesised('prod')
const [retentionDays, ...otherRetentions] = new Set(template.each('AWS::Logs::LogGroup', 'RetentionInDays'))
const [quiet] = alarmsIn(template, 'prod').filter(({ id }) => id === 'quiet')
const quietMinutes = (quiet?.metrics[0]?.periodSeconds ?? 0) / 60
const [suppressedAfter] = template.each('AWS::CloudWatch::CompositeAlarm', 'ActionsSuppressorWaitPeriod')

const settlementTries = QUEUE_SETTINGS.settlements.maxReceives
const hiddenMinutes = hiddenSecondsOf('settlements') / 60

/** Sentences that a person wrote. */
it.each([
  ['docs/runbook.md', `Logs are kept for ${Number(retentionDays)} days.`],
  ['docs/runbook.md', `for ${quietMinutes} minutes, beginning within ${Number(suppressedAfter) / 60} minutes`],
  ['docs/runbook.md', `Each delivery is tried ${ATTEMPTS_PER_ROUND} times.`],
  ['docs/runbook.md', `is tried again after ${hiddenMinutes} minutes, ${settlementTries} times in all`],
  ['docs/operations.md', `Functions keep a secret for ${CACHE_MS / MINUTE_MS} minutes.`],
  ['docs/operations.md', `For ${NEW_BANK_MS / HOUR_MS} hours \`mark-settlement-paid\` refuses`],
  [
    'docs/operations.md',
    `after attempt ${ATTEMPTS_PER_ROUND}; at most one message in ${ALERT_EVERY_MS / MINUTE_MS} minutes`,
  ],
  ['docs/merchants/payments.md', `where the provider did not say within ${FEE_WAIT_MS / DAY_MS} days`],
  ['docs/merchants/settlements.md', `${ELIGIBLE_AGE_MS / HOUR_MS} hours after it was paid`],
  ['docs/merchants.md', `${deployedStage('prod').settings.keyLifetimeDays} days unless agreed otherwise`],
])('%s says what the setting says: %s', (document, sentence) => {
  expect(otherRetentions).toStrictEqual([])
  expect(readFileSync(join(PROJECT_ROOT, document), 'utf8')).toContain(sentence)
})
