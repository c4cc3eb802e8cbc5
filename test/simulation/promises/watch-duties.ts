import { isDeepStrictEqual } from 'node:util'
import type { Duty } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import type { Key } from '../../../shared/table/keys.ts'
import { type RawItem, text } from '../../support/recount/books.ts'
import type { Observations } from '../watching/observations.ts'
import type { World } from '../world/world.ts'

/** Items by what their keys begin with; of a client's ledger the first word of what lies in it. */
const kindOf = ({ pk, sk }: Key): string => {
  const [partition = ''] = pk.split('#')
  if (partition === 'PAYMENT') return sk.startsWith('EVENT#') ? 'EVENT' : 'PAYMENT'
  return partition === 'LEDGER' ? (sk.split('#')[0] ?? '') : partition
}

/**
 * What each duty may change, said here once more and by hand. Support moves money only by what the provider says of a
 * payment; finance moves what is settled and no payment's status; admin moves no money at all.
 */
const CHANGES: Readonly<Record<Duty, string>> = {
  look: '',
  support: 'PAYMENT EVENT SHARD JOURNAL DESTINATION REFERENCE SUSPENSE DELIVERY ENDPOINTS AUDIT HOUSE',
  finance: 'SETTLEMENT WINDOW SHARD JOURNAL HOUSE ADJUSTMENT VERDICT REFERENCE PAYMENT SUSPENSE AUDIT',
  admin: 'CLIENT APIKEY ENDPOINTS WINDOW SHARD AUDIT',
}
/** What an audit found. */
const FOUND = 'VERDICT'
/** Of every operator's action. */
const DUTIES: ReadonlyMap<string, Duty> = new Map(
  MANIFEST.flatMap(({ name, trigger }) => (trigger.kind === 'operator' ? [[name, trigger.duty] as const] : [])),
)
const MONEY = ['available_minor', 'in_settlement_minor', 'paid_out_minor', 'written_off_minor', 'settled_until']

const moved = (before: RawItem | undefined, after: RawItem | undefined, fields: readonly string[]) =>
  before !== undefined && fields.some((field) => before[field] !== after?.[field])

/** Beyond the kind of item: what of it a duty leaves alone. */
const isTrespass = (duty: Duty, kind: string, before: RawItem | undefined, after: RawItem | undefined): boolean => {
  if (duty === 'finance' && kind === 'PAYMENT')
    return moved(before, after, ['status', 'paid_at', 'notional_minor', 'credited_provider_payment_id'])
  if (duty === 'support' && kind === 'PAYMENT')
    return before?.['status'] === 'succeeded' && moved(before, after, ['net_minor', 'paid_at'])
  // When the operators were told of it, and nothing else.
  if (duty === 'support' && kind === 'ENDPOINTS')
    return !isDeepStrictEqual({ ...before, last_alert_at: undefined }, { ...after, last_alert_at: undefined })
  return duty === 'admin' && moved(before, after, [...MONEY, 'credited_minor'])
}

/** Checked at every write: an operator's action changes nothing outside the duty it belongs to. */
export const watchDuties = (world: World, seen: Observations): void => {
  world.onChange.push(({ key, before, after }) => {
    const name = world.acting?.name
    const duty = name === undefined ? undefined : DUTIES.get(name)
    if (name === undefined || duty === undefined) return
    const kind = kindOf(key)
    const allowed = name === 'audit-ledger' ? FOUND : CHANGES[duty]
    if (allowed.split(' ').includes(kind) && !isTrespass(duty, kind, before, after)) return
    seen.problems.push(`${name}, of ${duty}, has changed ${key.pk} ${key.sk} (${text(after ?? {}, 'status')})`)
  })
}
