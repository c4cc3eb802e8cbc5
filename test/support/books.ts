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

export const booksOf = (items: readonly RawItem[]): Books => {
  const bySk = (matches: (sk: string) => boolean) => items.filter((item) => matches(text(item, 'sk')))
  const payments = bySk((sk) => sk === 'PAYMENT')
  return {
    payments: payments.filter((item) => item['status'] !== 'creating'),
    creating: payments.filter((item) => item['status'] === 'creating'),
    pointers: items.filter((item) => text(item, 'pk').startsWith('DESTINATION#')),
    events: bySk((sk) => sk.startsWith('EVENT#')),
    deliveries: bySk((sk) => sk === 'DELIVERY'),
    attempts: bySk((sk) => sk.startsWith('ATTEMPT#')),
    shards: bySk((sk) => sk.startsWith('SHARD#')),
    windows: bySk((sk) => sk === 'WINDOW'),
    settlements: bySk((sk) => sk === 'SETTLEMENT'),
    suspense: bySk((sk) => sk === 'SUSPENSE'),
  }
}
