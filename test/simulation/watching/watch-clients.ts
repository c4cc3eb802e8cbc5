import { amount, type RawItem } from '../../support/recount/books.ts'
import { clientRow, windowRow } from '../world/rows.ts'
import { APART_MS, isRewritten, type Rules, rewrites, type Write, watchRules } from '../world/rules.ts'
import type { World } from '../world/world.ts'

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

const isGrown = ({ before, after }: Write) => numberOf(before) !== numberOf(after)

const ofClients: Rules = {
  'changes its id, or when it was made': rewrites('client_id created_at'),
  'enters the account again that it has': (write) =>
    accountOf(write.before) === accountOf(write.after) && isRewritten(write, 'bank'),
  'has fewer parts than it had': ({ before, after }) => numberOf(after) < numberOf(before),
  'has fewer parts until its new ones are in force': (write) => {
    const slowestClock = new Date(write.nowMs - APART_MS).toISOString()
    const untilThen = partsOf(write.after)?.before ?? 1
    return !write.isNew && isGrown(write) && untilThen < numberAt(write.before, slowestClock)
  },
  'has more parts than its window tells readers': ({ world, after }) =>
    (amount(windowRow(world, after['client_id']), 'parts') || 1) !== numberOf(after),
  'uses new parts before every reader knows of them': (write) =>
    !write.isNew && isGrown(write) && Date.parse(partsOf(write.after)?.from ?? '') < write.nowMs + 30_000,
}

const ofKeys: Rules = {
  'changes what it may do, or when it was made or ended': rewrites(
    'client_id key_id permissions created_at expires_at revoked_at',
  ),
}

/** A payment, when its create is claimed. */
const ofClaims: Rules = {
  'is put in a part that a reader who has begun does not read': ({ world, after, isNew, nowMs }) => {
    const at = new Date(nowMs + APART_MS).toISOString()
    return isNew && amount(after, 'part') >= numberAt(clientRow(world, after['client_id']), at)
  },
}

/** Checked at every write to a client, its keys and its claims. */
export const watchClients = (world: World): void => {
  /** Clients that have had a bank account. */
  const known = new Set<string>()
  const asReplacement: Rules = {
    'has another account that is not marked as a change': ({ key, before, after }) => {
      const account = accountOf(after)
      const isOther = account !== undefined && account !== accountOf(before)
      return isOther && known.has(key.pk) && Object(after['bank']).isChange !== true
    },
  }
  watchRules(world, ({ sk }) => {
    if (sk === 'CLIENT') return { ...ofClients, ...asReplacement }
    if (sk === 'PAYMENT') return ofClaims
    return sk === 'APIKEY' ? ofKeys : undefined
  })
  // After the rules: the account that a write enters was not there before it.
  world.onWritten.push((written) => {
    for (const { key, after } of written) if (key.sk === 'CLIENT' && after && accountOf(after)) known.add(key.pk)
  })
}
