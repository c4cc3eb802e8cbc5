import { mutantsOf } from '../mutation/mutant.ts'

/** Eight attempts a round at their waits, alerts that go out, and redeliveries. */
export const ATTEMPT_MUTANTS = [
  ...mutantsOf('deliverWebhook', ['deliver-webhook-messages'], {
    'a message about an attempt that was made is worked off': 'drop message.attempt <= delivery.attempts',
    'a message about a finished delivery is worked off': "drop delivery.status !== 'scheduled'",
    'a message that comes early is dropped': {
      edit: 'requeue(deps, delivery, lane, hopSeconds(waitMs)) -> undefined',
      tests: ['deliver-webhook'],
    },
    'an endpoint that hangs is attempted by workers that others need': {
      edit: "drop lane === 'slow' && message.slow !== true",
      tests: ['slow-lane'],
    },
    'a message of the slow lane is sent on for ever': { edit: 'message.slow !== true -> true', tests: ['slow-lane'] },
    'a disabled endpoint is posted to': 'endpoint?.enabled -> endpoint',
    'a deleted endpoint is posted to': {
      edit: 'drop endpoint.deletedAt !== undefined',
      equivalent: 'Deleting an endpoint disables it in the same write, and a deleted one cannot be enabled again.',
    },
  }),
  ...mutantsOf('handleClaimed', ['deliver-webhook'], {
    'a live claim is recorded as lost': 'leftMs > 0 -> false',
    'a claim that has run out is left for ever': 'leftMs > 0 -> true',
    'an attempt under a live claim is not looked at when the claim ends': 'return requeue(..._) -> return',
    'a lost attempt waits anew once it is found':
      'recordAttemptResult(deps, delivery, lost, lane, at) -> recordAttemptResult(deps, delivery, lost, lane)',
  }),
  ...mutantsOf('attemptDelivery', ['deliver-webhook-messages'], {
    'a webhook is posted without a claim':
      "drop(deps, idsOf(delivery), _) -> void deps.sendWebhook(webhookRequest(deps, delivery, body, signingSecret ?? ''))",
    'a webhook without a secret is signed with nothing':
      "const result = _ -> const result = await deps.sendWebhook(webhookRequest(deps, claimed, body, signingSecret ?? ''))",
  }),
  ...mutantsOf('webhookRequest', ['deliver-webhook'], {
    'a webhook carries the time of a clock that has jumped': 'deps.realNowMs() -> Date.parse(delivery.createdAt)',
  }),
  ...mutantsOf('standardSignatureOf', ['webhook-signature'], {
    'a library cannot verify with the secret it is given': "Buffer.from(encoded, 'base64') -> signingSecret",
    'a signature says nothing of event and time': '_.update(head) -> _',
  }),
  ...mutantsOf('noteAnswer', ['slow-lane'], {
    'a mark that cannot be written fails the delivery': 'deps.log.error(..._) -> { throw error }',
  }),
  ...mutantsOf('laneAfter', ['slow-lane'], {
    'a slow success is no mark': 'durationMs >= HELD_MS -> durationMs >= HELD_MS && httpStatus === undefined',
    'a refused connection takes the mark off': 'httpStatus === undefined -> false',
  }),
  ...mutantsOf('markSlow', ['slow-lane'], {
    'a mark makes an endpoint': 'exists -> absent("nothing")',
    'every attempt that hangs marks anew': "absent('slowSince') -> exists",
  }),
  ...mutantsOf('unmarkSlow', ['slow-lane'], {
    'a newer mark is taken off': "equals('slowSince', slowSince) -> exists",
  }),
  ...mutantsOf('CLAIM_MS', ['deliver-webhook'], {
    'a claim lasts no longer than an attempt': '30 * SECOND_MS -> 3 * SECOND_MS',
  }),
  ...mutantsOf('recordAttemptResult', ['deliver-webhook'], {
    'no message is sent for the next attempt': 'drop sendDeliveryMessage(..._)',
    'nobody is told of a delivery that was abandoned': 'drop alertOperators(deps, recorded)',
    'a result goes on although its claim was lost': {
      edit: 'if (!(await storeAttemptResult(..._))) return false -> await storeAttemptResult(..._)',
      tests: ['deliver-webhook'],
    },
  }),
  ...mutantsOf('afterAttempt', ['redeliver'], {
    'a round counts the attempts of the rounds before it': 'attempt.number - roundStart -> attempt.number',
  }),
  ...mutantsOf('WAITS_MS', ['retry-schedule'], {
    'a round has nine attempts': '64 * MINUTE_MS -> 64 * MINUTE_MS, 64 * MINUTE_MS',
    'a round has seven attempts': 'drop 64 * MINUTE_MS',
    'the first wait is shorter than the specification says': '60 * SECOND_MS -> 59 * SECOND_MS',
  }),
  ...mutantsOf('hopSeconds', ['retry-schedule'], {
    'a hop is rounded down': 'Math.ceil(_) -> Math.floor(_)',
    'a hop is longer than SQS can hold': 'Math.min(..._) -> Math.max(Math.ceil(waitMs / SECOND_MS), 1)',
  }),
  ...mutantsOf('checkOverdueDelivery', ['check-overdue'], {
    'the message of an overdue attempt is sent without a claim':
      'if (!(await postponeDelivery(..._))) return false -> await postponeDelivery(..._)',
    'an attempt is overdue before its time': 'drop delivery.dueAt > deps.now()',
  }),
  ...mutantsOf('redeliver', ['redeliver'], {
    "another client's delivery is sent again": 'delivery?.clientId !== clientId -> delivery === undefined',
  }),
  ...mutantsOf('beginRound', ['redeliver'], {
    'a round takes the place of an alert that is owed': 'drop freeWaitingAlert(..._)',
    'the bytes that a round sends may be gone before it ends':
      'paymentId && body === undefined ? keepEvent(..._) : undefined -> undefined',
  }),
  ...mutantsOf('freeWaitingAlert', ['redeliver'], {
    'an alert that was put off while a round was begun is lost':
      'current?.dueAt === delivery.dueAt || current?.attempts !== delivery.attempts -> true',
  }),
  ...mutantsOf('findOwnDelivery', ['api-tenancy'], {
    "another client's delivery is shown to a merchant": 'delivery?.clientId !== clientId -> delivery === undefined',
  }),
  ...mutantsOf('redeliverOwn', ['redeliver'], {
    'a merchant has a disabled endpoint sent to': '!endpoint?.enabled -> endpoint === undefined',
  }),
  ...mutantsOf('requireEnabledEndpoint', ['redeliver'], {
    'a disabled endpoint gets a redelivery': 'drop !endpoint.enabled',
  }),
  ...mutantsOf('redeliverToEndpoint', ['redeliver-endpoint'], {
    'a redelivery makes what the endpoint never wanted': 'drop subscribes(..._)',
  }),
  ...mutantsOf('redeliver-to-endpoint/decodeCursor', ['redeliver-endpoint'], {
    'a cursor leads before the time that was asked for': 'position.firedAt >= since -> true',
  }),
]
