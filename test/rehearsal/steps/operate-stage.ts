import { GetQueueUrlCommand, SendMessageCommand, SQSClient } from '@aws-sdk/client-sqs'
import * as v from 'valibot'
import { MANIFEST } from '../../../functions/manifest.ts'
import { fillIn } from '../../support/hostile-values.ts'
import { RIGHT_PAYLOADS } from '../../support/operator-world.ts'
import { REGION } from '../emulator.ts'
import { judgementOn } from '../judgement.ts'
import { KeySchema, type Merchant, PaymentSchema } from '../merchant.ts'
import { expect, HOOKS_URL, OPERATOR, type Rehearsal, STACK } from '../rehearsal.ts'
import type { Settlement, TakenPayments } from './take-payments.ts'

type Done = {
  readonly merchant: Merchant
  readonly payments: TakenPayments
  readonly settlement: Settlement
}

const LOOKUPS = MANIFEST.flatMap(({ trigger }) =>
  trigger.kind === 'http' && trigger.method === 'GET' ? [trigger.path.replace('/v1/', '')] : [],
)

export function operateStage(
  { step, admin, clock, verdicts }: Rehearsal,
  { merchant, payments }: Done,
) {
  return step('operators do what is left of their actions', async () => {
    const client = { client_id: merchant.clientId }
    const by = { operator: OPERATOR, ...client }
    const spare = { ...by, url: `${HOOKS_URL}?spare`, event_types: ['payment.expired'] }
    const { endpoint_id } = v.parse(
      v.object({ endpoint_id: v.string() }),
      await admin('register-endpoint', spare),
    )
    const dayAgoMs = Date.now() + (clock.offsetSeconds() - 86_400) * 1_000
    const actions = {
      'update-client': { ...by, name: 'Warung Baru' },

      'send-test-event': { ...by, endpoint_id: merchant.endpointId },
      'update-endpoint': { ...by, endpoint_id, enabled: false },
      'delete-endpoint': { ...by, endpoint_id },

      'find-payments': { ...client, payment_destination: payments.paid.payment_destination },
      'erase-customer': { operator: OPERATOR, payment_id: payments.cancelled.id },
      'refresh-payment': { operator: OPERATOR, payment_id: payments.paid.id },
      'list-deliveries': client,
      redeliver: {
        ...by,
        endpoint_id: merchant.endpointId,
        since: new Date(dayAgoMs).toISOString(),
      },

      'check-due-work': {},
      'audit-clients': {},
    }
    for (const [action, payload] of Object.entries(actions)) await admin(action, payload)
    const open = v.object({ data: v.looseTuple([v.object({ suspense_id: v.string() })]) })
    const {
      data: [{ suspense_id }],
    } = v.parse(open, await admin('list-suspense', { status: 'open' }))
    await admin('resolve-suspense', {
      operator: OPERATOR,
      suspense_id,
      resolution: 'refunded_by_bank',
    })
    await admin('adjust-ledger', {
      ...by,
      kind: 'correction',
      amount_minor: -5_000,
      reference: 'transfer-3',
    })
    // The gateway refuses it: the books balance, so there is no difference to accept.
    const difference = {
      what: 'window.written_off_minor',
      id: merchant.clientId,
      expected: 0,
      found: 1,
    }
    await admin('accept-difference', { ...by, ...difference, notes: 'there is none' }, [1])
    const audit = v.parse(v.object({ balanced: v.boolean() }), await admin('audit-ledger', client))
    expect(audit.balanced, 'the books do not balance')
    // The gateway refuses a digest that is not the plan's.
    await admin('recount-ledger', { ...by, plan: '0'.repeat(64) }, [1])

    const { key_id } = v.parse(KeySchema, await admin('issue-api-key', by))
    await admin('revoke-api-key', { ...by, key_id })
    const { silent } = judgementOn(verdicts())
    const names = {
      $client: merchant.clientId,
      $endpoint: merchant.endpointId,
      $succeeded: payments.paid.id,
    }
    for (const name of silent.filter((action) => action in RIGHT_PAYLOADS)) {
      await admin(name, Object(fillIn(RIGHT_PAYLOADS[name], names)), [0, 1])
    }
  })
}

export function lookUp(
  { step }: Rehearsal,
  { merchant, payments, settlement }: Done,
  apiUrl: string,
) {
  return step('a merchant looks up all there is, and has a webhook sent again', async () => {
    const listed = v.object({ data: v.looseTuple([v.object({ id: v.string() })]) })
    const {
      data: [delivery],
    } = await merchant.get(listed, 'webhook_deliveries')
    const ids: Readonly<Record<string, string>> = {
      payments: payments.cancelled.id,
      settlements: settlement.id,
      webhook_deliveries: delivery.id,
    }
    for (const path of LOOKUPS) {
      const asked = path.replace(/^(\w+)\/\{id\}/, (_, of: string) => `${of}/${ids[of]}`)
      await merchant.get(
        v.object({ data: v.optional(v.pipe(v.array(v.unknown()), v.minLength(1))) }),
        asked,
      )
    }
    const { status } = await merchant.get(PaymentSchema, `payments/${payments.cancelled.id}`)
    expect(status === 'cancelled', `the cancelled payment is ${status}`)
    await merchant.get(v.object({ paid_out_minor: v.number() }), 'balance?include=settlements')
    await merchant.get(
      v.object({ status: v.literal('manual_paid') }),
      `settlements/${settlement.id}`,
    )
    await merchant.post(v.unknown(), `webhook_deliveries/${delivery.id}/redeliver`)
    const since = new Date(Date.now() - 86_400_000).toISOString()
    await merchant.post(v.unknown(), `webhook_endpoints/${merchant.endpointId}/redeliver`, {
      since,
    })
    const nowhere = await fetch(`${apiUrl}/v2/anything`)
    expect(nowhere.status === 404, `what is not there answered ${nowhere.status}`)
    const stranger = await fetch(`${apiUrl}/callbacks/xendit`, { method: 'POST', body: '{}' })
    expect(stranger.status === 401, `a callback without a token answered ${stranger.status}`)
  })
}

const HELPERS = MANIFEST.flatMap(({ name, trigger }) =>
  trigger.kind === 'queue' && /^(due-|sync$)/.test(trigger.queue)
    ? [{ name, queue: trigger.queue }]
    : [],
)

/**
 * Gives each worker of due work and of the sync a message, because earlier steps may have given it
 * no message.
 */
export function wakeHelpers({ step, verdicts, eventually }: Rehearsal) {
  return step('every worker of due work and of the sync takes a share', async () => {
    const sqs = new SQSClient({ region: REGION })
    for (const { queue } of HELPERS) {
      const { QueueUrl } = await sqs.send(
        new GetQueueUrlCommand({ QueueName: `${STACK}-${queue}` }),
      )
      const MessageBody = JSON.stringify({ slot: 0, part: 0, parts: 1 })
      await sqs.send(new SendMessageCommand({ QueueUrl, MessageBody }))
    }
    await eventually('a call of each', async () => {
      const { silent } = judgementOn(verdicts())
      return HELPERS.some(({ name }) => silent.includes(name)) ? undefined : true
    })
  })
}

export function examineStage({ step, npm }: Rehearsal) {
  return step('npm run doctor finds nothing wrong', async () => {
    const { output } = await npm(['doctor', '--json'], { codes: [0, 1, 3] })
    const findings = v.parse(v.array(v.record(v.string(), v.string())), JSON.parse(output))
    const wrong = findings.flatMap((finding) =>
      finding['state'] === 'ok' ? [] : [`${finding['what']}: ${finding['detail']}`],
    )
    expect(wrong.length === 0, `the doctor says:\n${wrong.join('\n')}`)
  })
}
