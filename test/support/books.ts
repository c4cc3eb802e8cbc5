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
  /** Endpoints that have been there, enabled, from the beginning. */
  readonly endpointsOfClient: ReadonlyMap<string, readonly string[]>
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
  readonly events: readonly RawItem[]
  readonly deliveries: readonly RawItem[]
  readonly attempts: readonly RawItem[]
  readonly shards: readonly RawItem[]
  readonly windows: readonly RawItem[]
  readonly settlements: readonly RawItem[]
  readonly suspense: readonly RawItem[]
}

export const text = (item: RawItem, attribute: string): string => {
  const value = item[attribute]
  return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
}
export const amount = (item: RawItem, attribute: string): number => Number(item[attribute] ?? 0)
export const sum = (items: readonly RawItem[], attribute: string): number =>
  items.reduce((total, item) => total + amount(item, attribute), 0)

/** What a lean row says by its keys and its places in the indexes alone. */
const saidOf = ({ pk, sk, id, owner, listed_at: listedAt }: RawItem): RawItem => {
  const paymentId = String(pk).slice('PAYMENT#'.length)
  const event = { event_id: id, type: String(sk).slice('EVENT#'.length), client_id: owner, fired_at: listedAt }
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
    events: bySk((sk) => sk.startsWith('EVENT#')).map(whole),
    // Under one name or the other, which decides whether an index lists it by its status.
    deliveries: bySk((sk) => sk === 'DELIVERY').map((item) => ({ ...item, status: item['status'] ?? item['state'] })),
    attempts: bySk((sk) => sk.startsWith('ATTEMPT#')),
    shards: bySk((sk) => sk.startsWith('SHARD#')),
    windows: bySk((sk) => sk === 'WINDOW'),
    settlements: bySk((sk) => sk === 'SETTLEMENT'),
    suspense: bySk((sk) => sk === 'SUSPENSE'),
  }
}

const clientOf = (item: RawItem): string => text(item, 'pk').slice('LEDGER#'.length)
const STATUSES = ['pending', 'succeeded', 'failed', 'expired', 'cancelled']

export const ledgerProblems = ({ payments, shards, windows, settlements }: Books): string[] =>
  windows.flatMap((window) => {
    const client = clientOf(window)
    const own = payments.filter((payment) => payment['client_id'] === client)
    const ownShards = shards.filter((shard) => clientOf(shard) === client)
    const succeeded = own.filter(({ status }) => status === 'succeeded')
    const credited = sum(succeeded, 'net_minor')
    const swept = settlements.filter((item) => item['client_id'] === client && item['replaces'] === undefined)
    const recredited = new Set<unknown>((window['recredited_ids'] as Set<string> | undefined) ?? [])
    const all = settlements.filter((item) => item['client_id'] === client)
    const waiting = settlements.filter((item) => recredited.has(item['settlement_id']))
    const paidOut = all.filter(({ status }) => status === 'manual_paid')
    const open = all.filter(({ status, recredited_at: at }) => status !== 'manual_paid' && at === undefined)
    const figures = ['available_minor', 'in_settlement_minor', 'paid_out_minor'] as const
    const pending = credited - amount(window, 'settled_minor')
    return [
      [credited, sum(ownShards, 'credited_minor'), 'credited'],
      [sum(swept, 'net_minor'), amount(window, 'settled_minor'), 'settled'],
      [sum(waiting, 'net_minor'), amount(window, 'available_minor'), 'available'],
      [sum(open, 'net_minor'), amount(window, 'in_settlement_minor'), 'in settlement'],
      [sum(paidOut, 'net_minor'), amount(window, 'paid_out_minor'), 'paid out'],
      // Credited = pending + available + in settlement + paid out, always.
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

export const settlementProblems = ({ payments, settlements }: Books): string[] => {
  const problems: string[] = []
  for (const settlement of settlements) {
    const id = text(settlement, 'settlement_id')
    const paid = payments.filter(
      (payment) =>
        payment['client_id'] === settlement['client_id'] &&
        payment['status'] === 'succeeded' &&
        text(payment, 'paid_at') >= text(settlement, 'period_start') &&
        text(payment, 'paid_at') < text(settlement, 'period_end'),
    )
    const pairs = [
      ['notional_minor', 'gross_minor'],
      ['provider_fee_minor', 'provider_fees_minor'],
      ['markup_minor', 'markup_minor'],
      ['net_minor', 'net_minor'],
    ] as const
    for (const [of, field] of pairs) {
      if (sum(paid, of) !== amount(settlement, field)) problems.push(`settlement ${id}: ${field} is not its payments'`)
    }
    if (paid.length !== settlement['payment_count'])
      problems.push(`settlement ${id}: payment_count is not its payments'`)
    if (paid.some((payment) => payment['fee_status'] === 'estimated'))
      problems.push(`settlement ${id}: an estimated fee`)
  }
  const live = settlements.filter(({ status }) => status !== 'failed')
  for (const payment of payments.filter(({ status }) => status === 'succeeded')) {
    const holding = live.filter(
      (settlement) =>
        settlement['client_id'] === payment['client_id'] &&
        text(payment, 'paid_at') >= text(settlement, 'period_start') &&
        text(payment, 'paid_at') < text(settlement, 'period_end'),
    )
    if (holding.length > 1) problems.push(`payment ${text(payment, 'payment_id')} is in ${holding.length} settlements`)
  }
  return problems
}

/** Nothing falls before its client's first window, or between two: what the window has passed is in one settlement. */
export const leftOutProblems = ({ payments, windows, settlements }: Books): string[] =>
  windows.flatMap((window) => {
    const swept = settlements.filter((item) => item['client_id'] === clientOf(window) && item['replaces'] === undefined)
    return payments
      .filter((payment) => payment['client_id'] === clientOf(window) && payment['status'] === 'succeeded')
      .filter((payment) => text(payment, 'paid_at') < text(window, 'settled_until'))
      .filter(
        (payment) =>
          !swept.some(
            (item) =>
              text(payment, 'paid_at') >= text(item, 'period_start') &&
              text(payment, 'paid_at') < text(item, 'period_end'),
          ),
      )
      .map((payment) => `payment ${text(payment, 'payment_id')} fell before every settlement`)
  })
