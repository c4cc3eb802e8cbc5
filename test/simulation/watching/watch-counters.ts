import { pausesKey } from '../../../shared/table/keys.ts'
import { amount, text } from '../../support/recount/books.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { type Rule, type Write, watchRules } from './rules.ts'

/** The part of a minute's calls that one client may have while they are scarce. */
const SHARE = 4
const WINDOWS = 6

const ofPauses: readonly Rule<Write>[] = [
  [
    'ends a pause before the time that a worker was told',
    ({ before, after }) =>
      Object.keys(before).some((name) => !['pk', 'sk', 'ttl'].includes(name) && text(after, name) < text(before, name)),
  ],
]

const ofQuota: readonly Rule<Write>[] = [
  ['is more than the quota', ({ world, after }) => amount(after, 'taken') > Math.ceil(world.callsPerMinute / WINDOWS)],
]

const ofShare: readonly Rule<Write>[] = [
  [
    "is more than one client's share",
    ({ world, after }) => amount(after, 'taken') > Math.max(1, Math.floor(world.callsPerMinute / SHARE)),
  ],
]

/** Of one client: what it used, less what its limit pays off. */
const ofRate: readonly Rule<Write>[] = [
  [
    'is paid off faster than the limit',
    ({ world, key, before, after }) => {
      const clientId = key.pk.split('#')[1] ?? ''
      const limit = world.table.item({ pk: `CLIENT#${clientId}`, sk: 'CLIENT' })?.['rate_limit_per_second']
      const seconds = Math.max(0, amount(after, 'second') - amount(before, 'second'))
      const left = amount(before, 'points') - amount(after, 'points')
      return typeof limit === 'number' && amount(before, 'second') > 0 && left > limit * seconds
    },
  ],
]

/** Checked at every write of a counter: it stays within what it counts against. */
export const watchCounters = (world: World, seen: Observations): void =>
  watchRules(world, seen, ({ pk }) => {
    if (pk === pausesKey.pk) return ofPauses
    if (/^QUOTA#[^#]+#\w+#\d+$/.test(pk)) return ofQuota
    if (/^QUOTA#[^#]+#\w+#[^#]+#\d+$/.test(pk)) return ofShare
    return /^RATE#[^#]+$/.test(pk) ? ofRate : []
  })
