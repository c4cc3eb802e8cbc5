/** The table's raw items, sorted into the books an auditor would want. */
export type RawItem = Readonly<Record<string, unknown>>

export type Seen = {
  /** Every POST a merchant's server has taken. */
  readonly webhooks: readonly {
    readonly url: string
    readonly deliveryId: string
    readonly body: string
    readonly signature: string
    readonly answered: number | 'nothing'
  }[]
  readonly secretOfUrl: ReadonlyMap<string, string>
  /** What the provider has captured: provider payment id to amount. */
  readonly captured: ReadonlyMap<string, number>
  /** What it has voided or reversed since: provider payment ids. */
  readonly turned: readonly string[]
  /** Its rows of their own by which money went back, or came again. */
  readonly bookedBack: readonly string[]
  /** Every endpoint that has ever been there; and whether it must have a delivery of an event. */
  readonly endpointsOfClient: ReadonlyMap<string, readonly string[]>
  readonly mustHear: (endpointId: string, event: RawItem) => boolean
  readonly destinationsOfKey: ReadonlyMap<string, ReadonlySet<string>>
  readonly paymentsOfKey: ReadonlyMap<string, ReadonlySet<string>>
  readonly logLines: readonly string[]
  /** Keys, secrets, names, phones, e-mail addresses. */
  readonly confidential: readonly string[]
}

export type Books = {
  readonly payments: readonly RawItem[]
  readonly creating: readonly RawItem[]
  /** What leads from destinations to payments. */
  readonly pointers: readonly RawItem[]
  /** What leads from merchants' references to payments. */
  readonly references: readonly RawItem[]
  readonly events: readonly RawItem[]
  readonly deliveries: readonly RawItem[]
  readonly attempts: readonly RawItem[]
  /** Abandoned deliveries that the operators have not been told of. */
  readonly untold: readonly RawItem[]
  readonly shards: readonly RawItem[]
  readonly windows: readonly RawItem[]
  readonly settlements: readonly RawItem[]
  readonly suspense: readonly RawItem[]
  /** What went back before it was swept. */
  readonly reversals: readonly RawItem[]
}

export const text = (item: RawItem, attribute: string): string => {
  const value = item[attribute]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
export const amount = (item: RawItem, attribute: string): number => Number(item[attribute] ?? 0)
export const sum = (items: readonly RawItem[], attribute: string): number =>
  items.reduce((total, item) => total + amount(item, attribute), 0)

/** Whose part of the books that is: the client itself has the first, `<client>#<number>` are the others. */
const clientIn = (part: string): string => part.split('#', 1)[0] ?? ''

/** What a row says by its keys and its places in the indexes alone. */
const saidOf = ({ pk, sk, id, owner, listed_at: listedAt }: RawItem): RawItem => {
  const paymentId = String(pk).slice('PAYMENT#'.length)
  const event = {
    event_id: id,
    type: String(sk).slice('EVENT#'.length),
    client_id: clientIn(String(owner)),
    fired_at: listedAt,
  }
  return { payment_id: paymentId, ...(sk === 'PAYMENT' ? { created_at: listedAt, currency: 'IDR' } : event) }
}

/** A payment or an event with all it says. */
export const whole = (item: RawItem): RawItem => ({ ...saidOf(item), ...item })

export const booksOf = (items: readonly RawItem[]): Books => {
  const bySk = (matches: (sk: string) => boolean) => items.filter((item) => matches(text(item, 'sk')))
  const payments = bySk((sk) => sk === 'PAYMENT')
  return {
    payments: payments.filter((item) => item['status'] !== 'creating').map(whole),
    creating: payments.filter((item) => item['status'] === 'creating'),
    pointers: items.filter((item) => text(item, 'pk').startsWith('DESTINATION#')),
    references: items.filter((item) => text(item, 'pk').startsWith('REFERENCE#')),
    events: bySk((sk) => sk.startsWith('EVENT#')).map(whole),
    // Under one name or the other, which decides whether an index lists it by its status.
    deliveries: bySk((sk) => sk === 'DELIVERY').map((item) => ({ ...item, status: item['status'] ?? item['state'] })),
    attempts: bySk((sk) => sk.startsWith('ATTEMPT#')),
    untold: bySk((sk) => sk.startsWith('UNTOLD#')),
    shards: bySk((sk) => sk.startsWith('SHARD#')),
    windows: bySk((sk) => sk === 'WINDOW'),
    settlements: bySk((sk) => sk === 'SETTLEMENT'),
    suspense: bySk((sk) => sk === 'SUSPENSE'),
    reversals: items.filter((item) => text(item, 'pk').endsWith('#REVERSALS')),
  }
}

const isDeduction = ({ part, undone_by: undoneBy, undoes, reinstated }: RawItem): boolean =>
  [part, undoneBy, undoes, reinstated].every((mark) => mark === undefined)

/** A payment at one of its places in the order of what is settled. */
const placed = (item: RawItem): string => `${text(item, 'payment_id')} at ${text(item, 'paid_at')}`

/**
 * Those that the ledger still credits and settlements sweep, by when they are swept: at the time they were paid, and, when
 * they came again behind a settlement without them, once more at that time.
 */
export const kept = (payments: readonly RawItem[], reversals: readonly RawItem[]): readonly RawItem[] => {
  const gone = new Set(reversals.filter(isDeduction).map(placed))
  const again = reversals.flatMap((item) => {
    const payment = payments.find(({ payment_id: id }) => id === item['payment_id'])
    return item['reinstated'] === true && payment ? [{ ...payment, paid_at: item['paid_at'] }] : []
  })
  return [...payments.filter(({ status }) => status === 'succeeded'), ...again].filter(
    (item) => !gone.has(placed(item)),
  )
}

const partIn = (item: RawItem): string => text(item, 'pk').slice('LEDGER#'.length)
export const clientOf = (item: RawItem): string => clientIn(partIn(item))

/** Of settlements, without what went back since they were recorded. */
const remaining = (items: readonly RawItem[], attribute: string): number =>
  sum(items, attribute) - sum(items, `reversed_${attribute}`)

const STATUSES = ['pending', 'succeeded', 'failed', 'expired', 'cancelled']

export const ledgerProblems = ({ payments, shards, windows, settlements, reversals }: Books): string[] =>
  windows.flatMap((window) => {
    const client = clientOf(window)
    const own = payments.filter((payment) => payment['client_id'] === client)
    const ownShards = shards.filter((shard) => clientOf(shard) === client)
    const credited = sum(kept(own, reversals), 'net_minor')
    const ownReversals = reversals.filter((item) => text(item, 'pk') === `${text(window, 'pk')}#REVERSALS`)
    const swept = settlements.filter((item) => item['client_id'] === client && item['replaces'] === undefined)
    const recredited = new Set<unknown>((window['recredited_ids'] as Set<string> | undefined) ?? [])
    const all = settlements.filter((item) => item['client_id'] === client)
    const waiting = settlements.filter((item) => recredited.has(item['settlement_id']))
    const paidOut = all.filter(({ status }) => status === 'manual_paid')
    const open = all.filter(({ status, recredited_at: at }) => status !== 'manual_paid' && at === undefined)
    const recreditedEver = all.filter(({ recredited_at: at }) => at !== undefined)
    const figures = ['available_minor', 'in_settlement_minor', 'paid_out_minor', 'reversed_swept_minor'] as const
    const pending = credited - amount(window, 'settled_minor')
    return [
      [credited, sum(ownShards, 'credited_minor'), 'credited'],
      [sum(swept, 'net_minor'), amount(window, 'settled_minor'), 'settled'],
      [remaining(waiting, 'net_minor'), amount(window, 'available_minor'), 'available'],
      [sum(recreditedEver, 'reversed_net_minor'), amount(window, 'reversed_swept_minor'), 'reversed behind the sweep'],
      [sum(open, 'net_minor'), amount(window, 'in_settlement_minor'), 'in settlement'],
      [ownReversals.length, amount(window, 'reversal_seq'), 'number of reversals'],
      [sum(paidOut, 'net_minor'), amount(window, 'paid_out_minor'), 'paid out'],
      // Credited = pending + available + in settlement + paid out + reversed behind the sweep, always.
      [sum(ownShards, 'credited_minor'), figures.reduce((total, name) => total + amount(window, name), pending), 'all'],
      ...STATUSES.map((status) => [
        own.filter((payment) => payment['status'] === status).length,
        sum(ownShards, `count_${status}`),
        `count of ${status}`,
      ]),
    ].flatMap(([expected, found, what]) =>
      expected === found ? [] : [`${client}: ${what} is ${found}, must be ${expected}`],
    )
  })

const partOf = (payment: RawItem): string => {
  const part = amount(payment, 'part')
  return part === 0 ? text(payment, 'client_id') : `${text(payment, 'client_id')}#${part}`
}

/**
 * Payments stay in the part they were claimed for, which everybody asks: its shards count and credit them and no others,
 * and its lists have them and their events.
 */
export const partProblems = ({ payments, events, shards, windows, reversals }: Books): string[] => {
  const partsOf = new Map(windows.map((window) => [clientOf(window), amount(window, 'parts') || 1]))
  const byPart = Map.groupBy(payments, partOf)
  const names = new Set([...byPart.keys(), ...shards.map(partIn)])
  return [
    ...payments
      .filter((payment) => amount(payment, 'part') >= (partsOf.get(text(payment, 'client_id')) ?? 0))
      .map((payment) => `payment ${text(payment, 'payment_id')} is in a part that nobody asks`),
    ...[...payments, ...events]
      .filter((item) => {
        const payment = payments.find(({ pk }) => pk === item['pk'])
        return payment === undefined || text(item, 'owner') !== partOf(payment)
      })
      .map((item) => `${text(item, 'pk')} ${text(item, 'sk')} is listed in another part than its payment`),
    ...[...names].flatMap((name) => {
      const own = byPart.get(name) ?? []
      const ownShards = shards.filter((shard) => partIn(shard) === name)
      const credited = kept(own, reversals)
      const counted = STATUSES.reduce((total, status) => total + sum(ownShards, `count_${status}`), 0)
      const isRight = counted === own.length && sum(ownShards, 'credited_minor') === sum(credited, 'net_minor')
      return isRight ? [] : [`part ${name}: its shards do not have its payments`]
    }),
  ]
}

/** Each payment that says it was deducted is deducted once, and in the same breath as the ledger says it. */
export const reversalProblems = ({ payments, reversals }: Books): string[] => {
  const saying = payments.filter((payment) => Object(payment['reversal']).deductedAt !== undefined)
  const places = new Set(payments.map(placed))
  const ids = reversals
    .filter((item) => isDeduction(item) && places.has(placed(item)))
    .map((item) => text(item, 'payment_id'))
  const own = saying.map((payment) => text(payment, 'payment_id'))
  return [
    ...own.filter((id) => !ids.includes(id)).map((id) => `payment ${id} says it was deducted, and the ledger does not`),
    ...ids
      .filter((id, at) => !own.includes(id) || ids.indexOf(id) < at)
      .map((id) => `payment ${id} was deducted twice, or does not say so`),
  ]
}
