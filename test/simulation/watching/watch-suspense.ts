import { text } from '../../support/recount/books.ts'
import { onWrite } from '../world/rules.ts'
import type { World } from '../world/world.ts'

/** Checked at every write to suspense: an item leaves the due work only after the operators had its alert. */
export const watchSuspense = (world: World): void => {
  /** By item: how often an alert was due, and how many alerts there had been when the item was opened last. */
  const owed = new Map<string, number>()
  const openedAt = new Map<string, number>()
  const alertsAbout = (id: string, since = 0) =>
    world.alerts.slice(since).filter(({ kind, subject }) => kind.startsWith('suspense.') && subject === id).length

  onWrite(world, / SUSPENSE$/, ({ before, after, isNew }) => {
    const id = text(after, 'suspense_id')
    const [wasDue, isDue] = [before, after].map(({ work }) => work === 'alert')
    if (!wasDue && isDue) owed.set(id, (owed.get(id) ?? 0) + 1)
    if (isNew || (before['work'] === undefined && after['work'] !== undefined)) openedAt.set(id, world.alerts.length)
    const isAlerted = alertsAbout(id, openedAt.get(id)) > 0 && alertsAbout(id) >= (owed.get(id) ?? 0)
    if (wasDue && !isDue && !isAlerted) world.problems.push(`${id} leaves the due work before its alert`)
  })
}
