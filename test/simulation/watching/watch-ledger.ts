import { amount, clientOf, text } from '../../support/recount/books.ts'
import { windowRow } from '../world/rows.ts'
import { APART_MS, isChanged, ms, type Rules, watchRules } from '../world/rules.ts'
import type { World } from '../world/world.ts'

/** A figure of the balance has the time of its last change. One job writes several changes with one time. */
const timed = (figure: string, time: string): Rules => ({
  'changes and keeps the time of an older change': (write) =>
    amount(write.before, figure) !== amount(write.after, figure) &&
    !isChanged(write, time) &&
    !(ms(write.after, time) > write.startedMs - APART_MS),
})

const isClosed: Rules = {
  'opens a closed journal': ({ before, after }) => text(after, 'closed_until') < text(before, 'closed_until'),
}

const ofShards: Rules = { ...isClosed, ...timed('credited_minor', 'credited_at') }

const ofWindows: Rules = {
  ...isClosed,
  ...timed('available_minor', 'changed_at'),
  'has fewer parts than it had': ({ before, after }) => amount(after, 'parts') < amount(before, 'parts'),
}

const putOnce: Rules = { 'is written a second time': ({ isNew }) => !isNew }

const ofEntries: Rules = {
  ...putOnce,
  'is put into a window that a settlement has swept': ({ world, key }) =>
    key.sk < text(windowRow(world, clientOf(key)), 'settled_until'),
  'is put although every shard is closed': (write) => {
    const ledger = write.key.pk.replace('JOURNAL', 'LEDGER')
    const fences = write.world.table.items(ledger).filter(({ pk }) => pk === ledger)
    return fences.every((item) => text(item, 'closed_until') > text(write.after, 'posted_at'))
  },
}

/** Checked at every write to a client's window, shards and journal. What they add up to is recounted (`test/support`). */
export const watchLedger = (world: World): void =>
  watchRules(world, ({ pk, sk }, { isNew }) => {
    if (pk.startsWith('JOURNAL#')) return pk.startsWith('JOURNAL#house#') ? putOnce : ofEntries
    if (isNew) return undefined
    return sk === 'WINDOW' ? ofWindows : sk.startsWith('SHARD#') ? ofShards : undefined
  })
