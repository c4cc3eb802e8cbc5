import * as v from 'valibot'
import { countOf, rupiah, words } from '../activity/activity-line.ts'
import { jakartaTime } from './jakarta.ts'

const Batch = v.object({ number: v.number(), state: v.string(), count: v.number() })

/** The answers of calls that change something, by their members. The first that fits is told. */
const SENTENCES: readonly ((body: unknown) => string | undefined)[] = [
  told({ now: v.string() }, ({ now }) => `it is now ${jakartaTime(now)}`),
  told({ settlements: v.array(v.object({ net_minor: v.number() })) }, ({ settlements }) =>
    settlements.length === 0
      ? 'a worker still sums the settlement'
      : `${countOf(settlements.length, 'settlement')}, ${rupiah(sumOf(settlements))}`,
  ),
  told(
    { net_minor: v.number(), payment_count: v.number(), status: v.string() },
    ({ net_minor: net, payment_count: count, status }) =>
      `${rupiah(net)} of ${countOf(count, 'payment')}: ${words(status)}`,
  ),
  told(
    { notional_minor: v.number(), status: v.string() },
    (payment) => `${rupiah(payment.notional_minor)}: ${words(payment.status)}`,
  ),
  told(
    { transactions: v.number() },
    ({ transactions }) => `${countOf(transactions, 'transaction')} of the provider read`,
  ),
  told(
    { clients: v.number() },
    ({ clients }) => `the money of ${countOf(clients, 'merchant')} is settled if it is eligible`,
  ),
  told(
    { payment: v.number(), delivery: v.number() },
    ({ payment, delivery }) =>
      `${countOf(payment, 'payment')} and ${countOf(delivery, 'webhook')} were due`,
  ),
  told(
    { balanced: v.unknown(), differences: v.array(v.unknown()) },
    ({ balanced, differences }) => {
      if (balanced === true) return 'no difference'
      if (balanced !== false) return 'the books changed meanwhile; audit again'
      return countOf(differences.length, 'difference')
    },
  ),
  told(
    {
      batch: v.nullable(Batch),
      left_out: v.array(v.unknown()),
      continuing: v.optional(v.boolean(), false),
    },
    ({ batch, continuing }) => {
      if (batch !== null) return batchText(batch)
      return continuing ? 'the run continues' : 'no settlement may be paid out now'
    },
  ),
  told({ batch: Batch }, ({ batch }) => batchText(batch)),
  told(
    { done: v.number(), failed: v.number(), refused: v.number() },
    ({ done, failed, refused }) => `${done} paid, ${failed} failed, ${refused} refused`,
  ),
  told({ count: v.number() }, ({ count }) => `${countOf(count, 'webhook')} sent again`),
  told({ delivery_id: v.string(), status: v.string() }, ({ status }) => `webhook ${status}`),
  told({ endpoint_id: v.string(), enabled: v.boolean() }, ({ enabled }) =>
    enabled ? 'the endpoint gets webhooks' : 'the endpoint gets no webhooks',
  ),
  told(
    { approved_by: v.string(), until: v.string() },
    ({ until }) => `approved until ${jakartaTime(until)}`,
  ),
  told({ suspense_id: v.string(), resolution: v.string() }, ({ resolution }) => words(resolution)),
]

/** What a successful call has done, in words; undefined for an answer that says no more. */
export function doneSentence(body: unknown): string | undefined {
  for (const sentenceOf of SENTENCES) {
    const sentence = sentenceOf(body)
    if (sentence !== undefined) return sentence
  }
  return undefined
}

function told<const Fields extends v.ObjectEntries>(
  fields: Fields,
  say: (body: v.InferOutput<v.ObjectSchema<Fields, undefined>>) => string,
) {
  const schema = v.object(fields)
  return (body: unknown): string | undefined => {
    const parsed = v.safeParse(schema, body)
    return parsed.success ? say(parsed.output) : undefined
  }
}

function batchText({ number, state, count }: v.InferOutput<typeof Batch>): string {
  return `batch ${number} with ${countOf(count, 'payout')} is ${state}`
}

function sumOf(settlements: readonly { readonly net_minor: number }[]): number {
  return settlements.reduce((sum, { net_minor: net }) => sum + net, 0)
}
