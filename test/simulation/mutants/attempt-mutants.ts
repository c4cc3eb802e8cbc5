import { mutantsOf } from '../mutation/mutant.ts'

const DELIVER = 'integration/webhook/deliver-webhook'
const MESSAGES = 'integration/webhook/deliver-webhook-messages'
const CRASHES = 'integration/webhook/deliver-webhook-crashes'
const OVERDUE = 'integration/webhook/check-overdue-delivery'
const REDELIVER = 'integration/webhook/redeliver'
const CLAIMS = 'integration/webhook/lost-claims'
const TO_ENDPOINT = 'integration/webhook/redeliver-endpoint'

/** Eight attempts a round at their waits, alerts that go out, and redeliveries. */
export const ATTEMPT_MUTANTS = [
  ...mutantsOf('shared/webhook/send/deliver-webhook.ts', [
    {
      name: 'a message about an attempt that was made is worked off',
      find: "if (message.attempt <= delivery.attempts) return drop(deps, message, 'attempt_made')\n",
      replace: '',
      tests: [MESSAGES],
    },
    {
      name: 'a message about a finished delivery is worked off',
      find: "if (delivery.status !== 'scheduled') return drop(deps, message, 'finished')\n",
      replace: '',
      tests: [MESSAGES],
    },
    {
      name: 'a live claim is recorded as lost',
      find: "if (delivery.claimedUntil > deps.now()) return drop(deps, idsOf(delivery), 'claimed')\n",
      replace: '',
      tests: [CRASHES],
    },
    {
      name: 'a claim that has run out is left for ever',
      find: "if (delivery.claimedUntil > deps.now()) return drop(deps, idsOf(delivery), 'claimed')",
      replace: "if (delivery.claimedUntil > '') return drop(deps, idsOf(delivery), 'claimed')",
      tests: [CRASHES],
    },
    {
      name: 'a message that comes early is dropped',
      find: 'if (waitMs > 0) return requeue(deps, delivery, waitMs)',
      replace: 'if (waitMs > 0) return undefined',
      tests: [DELIVER],
    },
    {
      name: 'a disabled endpoint is posted to',
      find: 'if (!endpoint?.enabled || endpoint.deletedAt !== undefined) return skip(deps, delivery)',
      replace: 'if (!endpoint || endpoint.deletedAt !== undefined) return skip(deps, delivery)',
      tests: [MESSAGES],
    },
    {
      name: 'a deleted endpoint is posted to',
      find: 'if (!endpoint?.enabled || endpoint.deletedAt !== undefined) return skip(deps, delivery)',
      replace: 'if (!endpoint?.enabled) return skip(deps, delivery)',
      equivalent: 'Deleting an endpoint disables it in the same write, and a deleted one cannot be enabled again.',
      tests: [MESSAGES],
    },
    {
      name: 'a webhook is posted without a claim',
      find: "if (!claimed) return drop(deps, idsOf(delivery), 'claimed')\n  const result =",
      replace:
        "if (!claimed) deps.sendWebhook(webhookRequest(delivery, signingSecret ?? ''))\n  if (!claimed) return undefined\n  const result =",
      tests: [MESSAGES],
    },
    {
      name: 'a webhook without a secret is signed with nothing',
      find: 'signingSecret === undefined ? SECRET_MISSING : await deps.sendWebhook(webhookRequest(claimed, signingSecret))',
      replace: "await deps.sendWebhook(webhookRequest(claimed, signingSecret ?? ''))",
      tests: [MESSAGES],
    },
    {
      name: 'a claim lasts no longer than an attempt',
      find: 'const CLAIM_MS = 30 * SECOND_MS',
      replace: 'const CLAIM_MS = 3 * SECOND_MS',
      tests: [CRASHES],
    },
  ]),
  ...mutantsOf('shared/webhook/send/record-attempt-result.ts', [
    {
      name: 'no message is sent for the next attempt',
      find: 'await sendDeliveryMessage(deps, recorded, hopSeconds(waitMs ?? 0))',
      replace: 'await Promise.resolve()',
      tests: [DELIVER],
    },
    {
      name: 'a round counts the attempts of the rounds before it',
      find: 'waitAfterFailureMs(attempt.number - claimed.roundStart)',
      replace: 'waitAfterFailureMs(attempt.number)',
      tests: [DELIVER],
    },
    {
      name: 'nobody is told of a delivery that was abandoned',
      find: 'await alertOperators(deps, recorded)',
      replace: 'await Promise.resolve()',
      tests: [DELIVER],
    },
    {
      name: 'a result goes on although its claim was lost',
      find: 'if (!(await storeAttemptResult(deps, claimed, attempt, after))) return false',
      replace: 'await storeAttemptResult(deps, claimed, attempt, after)',
      tests: [CRASHES],
    },
  ]),
  ...mutantsOf('shared/webhook/delivery/retry-schedule.ts', [
    {
      name: 'a round has nine attempts',
      find: '  64 * MINUTE_MS,\n',
      replace: '  64 * MINUTE_MS,\n  64 * MINUTE_MS,\n',
      tests: ['unit/webhook/retry-schedule'],
    },
    {
      name: 'a round has seven attempts',
      find: '  64 * MINUTE_MS,\n',
      replace: '',
      tests: ['unit/webhook/retry-schedule'],
    },
    {
      name: 'the first wait is shorter than the specification says',
      find: '  60 * SECOND_MS,\n',
      replace: '  59 * SECOND_MS,\n',
      tests: ['unit/webhook/retry-schedule'],
    },
    {
      name: 'a hop is rounded down',
      find: 'Math.ceil(waitMs / SECOND_MS)',
      replace: 'Math.floor(waitMs / SECOND_MS)',
      tests: ['unit/webhook/retry-schedule'],
    },
    {
      name: 'a hop is longer than SQS can hold',
      find: 'Math.min(Math.max(Math.ceil(waitMs / SECOND_MS), 1), MAX_DELAY_SECONDS)',
      replace: 'Math.max(Math.ceil(waitMs / SECOND_MS), 1)',
      tests: ['unit/webhook/retry-schedule'],
    },
  ]),
  ...mutantsOf('shared/webhook/delivery/delivery-alert.ts', [
    {
      name: 'an alert leaves the due work before it is out',
      find: '  await deps.alerts.publish({',
      replace: '  await completeAlert(deps, delivery)\n  await deps.alerts.publish({',
      tests: [CRASHES],
    },
  ]),
  ...mutantsOf('shared/webhook/delivery/check-overdue-delivery.ts', [
    {
      name: 'the message of an overdue attempt is sent without a claim',
      find: 'if (!(await postponeDelivery(deps, delivery, dueAt, resends))) return false',
      replace: 'await postponeDelivery(deps, delivery, dueAt, resends)',
      tests: [CLAIMS],
    },
    {
      name: 'an attempt is overdue before its time',
      find: ' || delivery.dueAt > deps.now()) return false',
      replace: ') return false',
      tests: [OVERDUE],
    },
  ]),
  ...mutantsOf('shared/webhook/delivery/redeliver.ts', [
    {
      name: "another client's delivery is sent again",
      find: "if (delivery?.clientId !== clientId) throw notFound('delivery')",
      replace: "if (delivery === undefined) throw notFound('delivery')",
      tests: [REDELIVER],
    },
    {
      name: 'a round takes the place of an alert that is owed',
      find: 'if (owesAlert(delivery)) await publishDeliveryAlert(deps, delivery)\n',
      replace: '',
      tests: [REDELIVER],
    },
    {
      name: 'a disabled endpoint gets a redelivery',
      find: 'if (!endpoint.enabled) throw endpointDisabled()\n',
      replace: '',
      tests: [REDELIVER],
    },
  ]),
  ...mutantsOf('shared/webhook/delivery/redeliver-endpoint.ts', [
    {
      name: 'a redelivery makes what the endpoint never wanted',
      find: '} else if (status === undefined && subscribes(endpoint, event.type)) {',
      replace: '} else if (status === undefined) {',
      tests: [TO_ENDPOINT],
    },
    {
      name: 'a cursor leads before the time that was asked for',
      find: 'if (!parsed.success || parsed.output.fired_at < since) {',
      replace: 'if (!parsed.success) {',
      tests: [TO_ENDPOINT],
    },
  ]),
]
