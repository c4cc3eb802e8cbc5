import { amount, type RawItem, text } from '../../support/recount/books.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { APART_MS, isRewritten, type Rule, type Write, watchRules } from './rules.ts'

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

const ofClients: readonly Rule<Write>[] = [
  ['is made a second time', (write) => ['client_id', 'created_at'].some((name) => isRewritten(write, name))],
  [
    'has a new account that is the old one',
    (write) => accountOf(write.before) === accountOf(write.after) && isRewritten(write, 'bank'),
  ],
  ['has fewer parts than it had', ({ before, after }) => numberOf(after) < numberOf(before)],
  [
    'has fewer parts for a while',
    (write) =>
      !write.isNew && isGrown(write) && (partsOf(write.after)?.before ?? 1) < numberAt(write.before, timeOf(write)),
  ],
  [
    'grows and those who read are not told',
    (write) => {
      const window = write.world.table.item({ pk: `LEDGER#${text(write.after, 'client_id')}`, sk: 'WINDOW' }) ?? {}
      return (amount(window, 'parts') || 1) !== numberOf(write.after)
    },
  ],
  [
    'has more parts at once than readers know of',
    (write) => !write.isNew && isGrown(write) && Date.parse(partsOf(write.after)?.from ?? '') < write.nowMs + 30_000,
  ],
]

const ofKeys: readonly Rule<Write>[] = [
  [
    'is made or ended a second time',
    (write) =>
      ['client_id', 'key_id', 'permissions', 'created_at', 'expires_at', 'revoked_at'].some((name) =>
        isRewritten(write, name),
      ),
  ],
]

/** Of a payment that is claimed: readers know of its part. */
const ofClaims: readonly Rule<Write>[] = [
  [
    'is put where a reader that has begun does not look',
    ({ world, after, isNew, nowMs }) => {
      const client = world.table.item({ pk: `CLIENT#${text(after, 'client_id')}`, sk: 'CLIENT' }) ?? {}
      const at = new Date(nowMs + APART_MS).toISOString()
      return isNew && amount(after, 'part') >= numberAt(client, at)
    },
  ],
]

/** Whose payments go where: checked at every write to a client and to its keys. */
export const watchClients = (world: World, seen: Observations): void => {
  /** Accounts that a client has ever had. */
  const accounts = new Map<string, Set<string>>()
  const asReplacement: Rule<Write> = [
    'has another account and does not say that it is new',
    (write) => {
      const account = accountOf(write.after)
      if (account === undefined || account === accountOf(write.before)) return false
      return (accounts.get(write.key.pk)?.size ?? 0) > 0 && Object(write.after['bank']).isChange !== true
    },
  ]
  watchRules(world, seen, ({ sk }) => {
    if (sk === 'CLIENT') return [...ofClients, asReplacement]
    if (sk === 'PAYMENT') return ofClaims
    return sk === 'APIKEY' ? ofKeys : []
  })
  // After the rules: what a write enters is no account before it.
  world.onWritten.push((written) => {
    for (const { key, after } of written) {
      const account = key.sk === 'CLIENT' && after ? accountOf(after) : undefined
      if (account !== undefined) accounts.set(key.pk, (accounts.get(key.pk) ?? new Set()).add(account))
    }
  })
}
