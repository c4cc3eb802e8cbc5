import { type RawItem, text } from '../../support/recount/books.ts'
import { isChanged, isRewritten, ms, type Rules, rewrites, type Write, watchRules } from '../world/rules.ts'
import type { World } from '../world/world.ts'

/** Causes that leave nothing to do: the money of a payment moved, and every entry is written. */
const MOVED = ['money_went_back', 'money_came_back']
/** How an item ended: an open one has none of it. */
const ENDS = ['resolution', 'notes']

const isMoney = ({ kind }: RawItem): boolean => kind === 'money'
const isOwed = ({ work }: RawItem): boolean => work === 'alert'
const isResolved = ({ status }: RawItem): boolean => status === 'resolved'
const staysOpen = ({ before, after }: Write): boolean => before['status'] === 'open' && after['status'] === 'open'
const isDueAgain = ({ before, after }: Write): boolean => before['work'] === undefined && after['work'] !== undefined

const whenNew: Rules = {
  'is new, and no alert is due': ({ after }) => !isOwed(after) || after['due_at'] === undefined,
  'begins resolved although something is left to do, or open although nothing is': ({ after }) =>
    (after['status'] === 'open') === MOVED.includes(String(after['cause'])),
}

const whenChanged: Rules = {
  'changes what it is about': rewrites(
    'suspense_id id kind cause owner entity client_id payment_id provider_payment_id',
    'amount_minor posted_minor',
  ),
  'is money, and changes its time': (write) => isMoney(write.before) && rewrites('created_at listed_at')(write),
  'is money, and gets a second alert': ({ before, after }) => isMoney(before) && !isOwed(before) && isOwed(after),
  'is resolved a second time': (write) =>
    isResolved(write.before) &&
    isResolved(write.after) &&
    (ENDS.some((name) => isChanged(write, name)) || rewrites('left_out_by reinstated_by')(write)),
  'is opened again': ({ before, after }) => isResolved(before) && !isResolved(after),
  'is opened while it is open': (write) => staysOpen(write) && (isChanged(write, 'created_at') || isDueAgain(write)),
  'is open and says how it ended': ({ after }) =>
    after['status'] === 'open' && ENDS.some((name) => after[name] !== undefined),
  'is postponed before it is due': (write) => {
    const { before, after, nowMs, apartMs } = write
    const isPostponed = isMoney(before) && isOwed(before) && isOwed(after) && isRewritten(write, 'due_at')
    return isPostponed && !isChanged(write, 'status') && ms(before, 'due_at') > nowMs + apartMs
  },
}

/** Checked at every write to suspense: it is resolved once, and operators are alerted. */
export const watchSuspense = (world: World): void => {
  /** By item: how often operators had to be told of it, and how many alerts there had been when it was opened last. */
  const owed = new Map<string, number>()
  const openedAt = new Map<string, number>()
  const alertsAbout = (id: string, since = 0) =>
    world.alerts.slice(since).filter(({ kind, subject }) => kind.startsWith('suspense.') && subject === id).length

  const ofAlerts: Rules = {
    'leaves the due work before the operators were told': ({ before, after }) => {
      const id = text(after, 'suspense_id')
      const isAlerted = alertsAbout(id, openedAt.get(id)) > 0 && alertsAbout(id) >= (owed.get(id) ?? 0)
      return isOwed(before) && !isOwed(after) && !isAlerted
    },
  }

  watchRules(world, ({ sk }, write) => {
    if (sk !== 'SUSPENSE') return undefined
    const { before, after, isNew } = write
    const id = text(after, 'suspense_id')
    if (!isOwed(before) && isOwed(after)) owed.set(id, (owed.get(id) ?? 0) + 1)
    if (isNew || isDueAgain(write)) openedAt.set(id, world.alerts.length)
    return isNew ? whenNew : { ...whenChanged, ...ofAlerts }
  })
}
