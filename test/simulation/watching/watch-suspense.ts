import { type RawItem, text } from '../../support/recount/books.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { isChanged, isRewritten, type Rule, type Write, watchRules } from './rules.ts'

/** Money of a payment moved and every side is booked: there is nothing to be done. */
const MOVED = ['money_went_back', 'money_came_back']

const isMoved = ({ cause }: RawItem): boolean => MOVED.includes(String(cause))

const becomes = ({ before, after }: Write, from: string, to: string): boolean =>
  before['status'] === from && after['status'] === to

/** How an item ended: no more is said of it. */
const ENDS = ['resolution', 'notes']

const whenThere: readonly Rule<Write>[] = [
  [
    'is about something else than before',
    (write) =>
      ['kind', 'cause', 'payment_id', 'client_id', 'provider_payment_id', 'suspense_id'].some((name) =>
        isRewritten(write, name),
      ),
  ],
  [
    'is of another amount than before',
    (write) => ['amount_minor', 'posted_minor'].some((name) => isRewritten(write, name)),
  ],
  [
    'is resolved a second time',
    (write) => becomes(write, 'resolved', 'resolved') && ENDS.some((name) => isChanged(write, name)),
  ],
  ['is opened again', (write) => becomes(write, 'resolved', 'open')],
  [
    'is opened although it is open',
    (write) => becomes(write, 'open', 'open') && (isChanged(write, 'created_at') || isDueAgain(write)),
  ],
  [
    'is open and says how it ended',
    ({ after }) => after['status'] === 'open' && ENDS.some((name) => after[name] !== undefined),
  ],
]

const isDueAgain = ({ before, after }: Write): boolean => before['work'] === undefined && after['work'] !== undefined

const whenNew: readonly Rule<Write>[] = [
  ['is not to be told to anybody', ({ after }) => after['work'] !== 'alert' || after['due_at'] === undefined],
  [
    'begins resolved, or open though nothing is to be done',
    ({ after }) => (after['status'] === 'open') === isMoved(after),
  ],
]

/** Checked at every write to what is held, found or owed: it is told, it is resolved once, and it stays what it is. */
export const watchSuspense = (world: World, seen: Observations): void => {
  /** By item: how many alerts there had been when it was opened last. */
  const openedAt = new Map<string, number>()
  const isTold = (id: string) =>
    world.alerts
      .slice(openedAt.get(id) ?? 0)
      .some(({ subject, kind }) => subject === id && kind.startsWith('suspense.'))

  const neverUnreported: Rule<Write> = [
    'waits no longer for being told, and was not',
    ({ before, after }) =>
      before['work'] === 'alert' && after['work'] === undefined && !isTold(text(after, 'suspense_id')),
  ]

  watchRules(world, seen, ({ sk }, write) => {
    if (sk !== 'SUSPENSE') return []
    const { after, isNew } = write
    if (isNew || isDueAgain(write)) openedAt.set(text(after, 'suspense_id'), world.alerts.length)
    return isNew ? whenNew : [...whenThere, neverUnreported]
  })
}
