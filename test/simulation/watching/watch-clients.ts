import { pausesKey } from '../../../shared/table/keys.ts'
import { amount, type RawItem, text } from '../../support/recount/books.ts'
import { clientRow, windowRow } from '../world/rows.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { APART_MS, isRewritten, type Rules, rewrites, type Write, watchRules } from './rules.ts'

const accountOf = (item: RawItem): string | undefined => {
  const { bankName, bankAccountNo, bankAccountName } = Object(item['bank'])
  return item['bank'] === undefined ? undefined : [bankName, bankAccountNo, bankAccountName].join('\n')
}

type Parts = { readonly number: number; readonly before: number; readonly from: string }

const partsOf = (item: RawItem): Parts | undefined => item['ledger_parts'] as Parts | undefined
const numberOf = (item: RawItem): number => partsOf(item)?.number ?? 1
const numberAt = (item: RawItem, at: string): number => {
  const parts = partsOf(item)
  return parts && at < parts.from ? parts.before : numberOf(item)
}

/** By the slowest clock. */
const timeOf = ({ nowMs }: Write): string => new Date(nowMs - APART_MS).toISOString()

const isGrown = ({ before, after }: Write) => numberOf(before) !== numberOf(after)

const ofClients: Rules = {
  'is made a second time': rewrites('client_id created_at'),
  'has a new account that is the old one': (write) =>
    accountOf(write.before) === accountOf(write.after) && isRewritten(write, 'bank'),
  'has fewer parts than it had': ({ before, after }) => numberOf(after) < numberOf(before),
  'has fewer parts for a while': (write) =>
    !write.isNew && isGrown(write) && (partsOf(write.after)?.before ?? 1) < numberAt(write.before, timeOf(write)),
  'grows and those who read are not told': ({ world, after }) =>
    (amount(windowRow(world, after['client_id']), 'parts') || 1) !== numberOf(after),
  'has more parts at once than readers know of': (write) =>
    !write.isNew && isGrown(write) && Date.parse(partsOf(write.after)?.from ?? '') < write.nowMs + 30_000,
}

const ofKeys: Rules = {
  'is made or ended a second time': rewrites('client_id key_id permissions created_at expires_at revoked_at'),
}

/** Of a payment that is claimed: readers know of its part. */
const ofClaims: Rules = {
  'is put where a reader that has begun does not look': ({ world, after, isNew, nowMs }) => {
    const at = new Date(nowMs + APART_MS).toISOString()
    return isNew && amount(after, 'part') >= numberAt(clientRow(world, after['client_id']), at)
  },
}

/** The part of a minute's calls that one client may have while they are scarce. */
const SHARE = 4
const WINDOWS = 6

const ofPauses: Rules = {
  'ends a pause before the time that a worker was told': ({ before, after }) =>
    Object.keys(before).some((name) => !['pk', 'sk', 'ttl'].includes(name) && text(after, name) < text(before, name)),
}

const ofQuota: Rules = {
  'is more than the quota': ({ world, after }) => amount(after, 'taken') > Math.ceil(world.callsPerMinute / WINDOWS),
}

const ofShare: Rules = {
  "is more than one client's share": ({ world, after }) =>
    amount(after, 'taken') > Math.max(1, Math.floor(world.callsPerMinute / SHARE)),
}

/** Of one client: what it used, less what its limit pays off. */
const ofRate: Rules = {
  'is paid off faster than the limit': ({ world, key, before, after }) => {
    const limit = clientRow(world, key.pk.split('#')[1])['rate_limit_per_second']
    const seconds = Math.max(0, amount(after, 'second') - amount(before, 'second'))
    const left = amount(before, 'points') - amount(after, 'points')
    return typeof limit === 'number' && amount(before, 'second') > 0 && left > limit * seconds
  },
}

/** Counters by their keys: the pauses and the quota of the provider, a client's share of it, its own rate. */
const COUNTERS: readonly (readonly [RegExp, Rules])[] = [
  [new RegExp(`^${pausesKey.pk}$`), ofPauses],
  [/^QUOTA#[^#]+#\w+#\d+$/, ofQuota],
  [/^QUOTA#[^#]+#\w+#[^#]+#\d+$/, ofShare],
  [/^RATE#[^#]+$/, ofRate],
]

/** Checked at every write to a client, its keys and its counters. */
export const watchClients = (world: World, seen: Observations): void => {
  /** Clients that have had an account. */
  const known = new Set<string>()
  const asReplacement: Rules = {
    'has another account and does not say that it is new': ({ key, before, after }) => {
      const account = accountOf(after)
      const isOther = account !== undefined && account !== accountOf(before)
      return isOther && known.has(key.pk) && Object(after['bank']).isChange !== true
    },
  }
  watchRules(world, seen, ({ pk, sk }) => {
    if (sk === 'CLIENT') return { ...ofClients, ...asReplacement }
    if (sk === 'PAYMENT') return ofClaims
    return sk === 'APIKEY' ? ofKeys : COUNTERS.find(([pattern]) => pattern.test(pk))?.[1]
  })
  // After the rules: the account that a write enters was not there before it.
  world.onWritten.push((written) => {
    for (const { key, after } of written) if (key.sk === 'CLIENT' && after && accountOf(after)) known.add(key.pk)
  })
}
