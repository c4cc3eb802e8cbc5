import type { StoreDeps } from '../../deps.ts'
import { type Event, envelopeBody, reversedEventName, STATUS_EVENT_TYPES } from '../../event/event.ts'
import { EventSchema, eventPositionPages } from '../../event/read-events.ts'
import { ifValid } from '../../if-valid.ts'
import { isJsonObject, readJson, writeJson } from '../../json.ts'
import type { Payment } from '../../payment/payment.ts'
import { movementData, toWebhookData } from '../../payment/payment-dto.ts'
import { PaymentSchema } from '../../payment/payment-store.ts'
import type { Item } from '../../table/attributes.ts'
import { ownerOf, paymentKey } from '../../table/keys.ts'
import { addMs, DAY_MS, type Timestamp } from '../../time.ts'
import { type Difference, differs, madeOf, shown } from '../../verdict/difference.ts'
import { estimateOf } from './audit-payment.ts'
import type { ClientBooks } from './client-books.ts'

/** Free text of customers and merchants: the difference is reported, its content is not. */
const PRIVATE_FIELDS = /^data\.(external_reference|payment_destination|customer|description|metadata)$/

/** The fields of an event's body, each as text: numbers keep their digits, objects compare as a whole. */
type Fields = ReadonlyMap<string, string>

const fieldsOf = (text: string): Fields | undefined => {
  const json = readJson(Buffer.from(text))
  const { data, ...head } = json.ok && isJsonObject(json.value) ? json.value : {}
  if (!isJsonObject(data)) return undefined
  const entriesOf = (part: string, fields: object) =>
    Object.entries(fields).map(([name, field]: [string, unknown]) => [`${part}.${name}`, field] as const)
  return new Map(
    [...entriesOf('body', head), ...entriesOf('data', data)].map(([name, field]) => [
      name,
      typeof field === 'string' ? field : writeJson(field),
    ]),
  )
}

/** The events that a payment must have written, by name: of its status, and of each movement of its money. */
export const eventNamesOf = ({ status, movements }: Payment): readonly string[] => [
  ...STATUS_EVENT_TYPES.filter((type) => type === `payment.${status}`),
  ...movements.map(reversedEventName),
]

const movementOf = ({ movements }: Payment, { name }: Event) =>
  movements.find((movement) => reversedEventName(movement) === name)

/** The body that the payment would be announced with (spec 6.2). Undefined when its metadata is no JSON. */
const bodyOf = (payment: Payment, event: Event): string | undefined =>
  madeOf(() => {
    const movement = movementOf(payment, event)
    const data = { ...toWebhookData(payment), ...(movement && movementData(payment, movement)) }
    return envelopeBody(event.type, event.eventId, event.firedAt, data)
  })

const figureOf = (text: string | undefined) => (/^-?\d{1,15}$/.test(text ?? '') ? Number(text) : text)

const compareBody = (payment: Payment, event: Event, found: Fields): readonly Difference[] => {
  const expected = fieldsOf(bodyOf(payment, event) ?? '')
  if (expected === undefined) return differs('event.body', payment.paymentId, 'as in the payment', 'different')
  const names = new Set([...expected.keys(), ...found.keys()])
  // A movement's sum of all movements changes once the fee is final.
  names.delete('data.taken_back_minor')
  return [...names]
    .filter((name) => expected.get(name) !== found.get(name))
    .flatMap((name) => {
      const figures = [figureOf(expected.get(name)), figureOf(found.get(name))] as const
      // An unknown field may hold anything, so its content is not reported either.
      const isHidden = PRIVATE_FIELDS.test(name) || !expected.has(name)
      const sides = isHidden ? (['as in the payment', 'different'] as const) : figures
      return differs(`event.${name}`, payment.paymentId, ...sides)
    })
}

const auditRow = (payment: Payment, event: Event, item: Item): readonly Difference[] => {
  const { paymentId: id, clientId } = payment
  return [
    // Money moves at its own time.
    ...(movementOf(payment, event) ? [] : differs('event.fired_at', id, payment.transitions.at(-1)?.at, event.firedAt)),
    ...differs('event.owner', id, ownerOf(clientId, payment.part), shown(item['owner'])),
    ...differs('event.entity', id, 'event', shown(item['entity'])),
  ]
}

/** The event shows what was known when it fired: the actual fee, or the estimate that became final later. */
const auditBody = (payment: Payment, event: Event): readonly Difference[] => {
  // Usually equal byte for byte; only others are compared field by field.
  if (event.body === bodyOf(payment, event)) return []
  const found = fieldsOf(event.body)
  if (found === undefined) return differs('event.body', payment.paymentId, 'readable', 'unreadable')
  const now = compareBody(payment, event, found)
  const estimate = now.length > 0 ? estimateOf(payment) : undefined
  const then = estimate && compareBody({ ...payment, ...estimate, feeStatus: 'estimated' }, event, found)
  return then && then.length < now.length ? then : now
}

/** Events outlive their deliveries, which are kept for ninety days. */
const EVENTS_KEPT_MS = 90 * DAY_MS

const mayBeGone = ({ transitions }: Payment, now: Timestamp): boolean => {
  const ended = transitions.at(-1)
  return ended !== undefined && addMs(ended.at, EVENTS_KEPT_MS) <= now
}

/** Compares the event of a name with its payment, in whose transaction it was written. */
export const auditEvent = (
  payment: Payment,
  { name, item }: { readonly name: string; readonly item: Item | undefined },
  now: Timestamp,
): readonly Difference[] => {
  const { paymentId: id } = payment
  if (item === undefined) return mayBeGone(payment, now) ? [] : differs('event', id, name, undefined)
  const event = ifValid(EventSchema, item)
  if (event === undefined) return differs('event', id, 'readable', 'unreadable')
  return [...auditRow(payment, event, item), ...auditBody(payment, event)]
}

export const STRAY_EVENT = 'only events that the payment explains'

/** Whether a payment has this event. A payment that is being created or absent has none. */
export const tellsOf = (item: Item | undefined, name: string): boolean => {
  const payment = ifValid(PaymentSchema, item)
  return payment !== undefined && eventNamesOf(payment).includes(name)
}

/**
 * Events that their payments do not show, because a restore brought the event alone. No later news can change such a
 * payment: its transaction would write the event a second time.
 */
export const auditStrayEvents = async (
  deps: StoreDeps,
  { clientId, parts }: Pick<ClientBooks, 'clientId' | 'parts'>,
  between: readonly [string, string],
): Promise<readonly Difference[]> => {
  const differences: Difference[] = []
  for await (const positions of eventPositionPages(deps, { clientId, parts, between })) {
    const items = await deps.table.getMany([...new Set(positions.map(({ paymentId }) => paymentId))].map(paymentKey))
    const byPk = new Map(items.map((item) => [item?.['pk'], item]))
    const strays = positions.filter(({ paymentId, name }) => !tellsOf(byPk.get(paymentKey(paymentId).pk), name))
    differences.push(...strays.flatMap(({ paymentId, name }) => differs('event', paymentId, STRAY_EVENT, name)))
  }
  return differences
}
