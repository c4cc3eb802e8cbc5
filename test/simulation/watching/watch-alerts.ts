import { text } from '../../support/recount/books.ts'
import { meet } from '../sometimes/meet.ts'
import type { World } from '../world/world.ts'

const QUARTER_MS = 15 * 60_000
/** Two machines' clocks are so far apart at most. */
const APART_MS = 20_000

/** Once everything rests: every abandoned delivery is named in one alert, those of an endpoint a quarter of an hour apart. */
export const watchAlerts = (world: World): (() => readonly string[]) => {
  const abandoned: string[] = []
  world.onChange.push(({ key, before, after }) => {
    const isNew = after?.['status'] === 'abandoned' && before?.['attempts'] !== after['attempts']
    if (key.sk === 'DELIVERY' && isNew) abandoned.push(text(after, 'delivery_id'))
  })
  return () => {
    // A message that comes twice has one id: the first is counted.
    const told = world.alerts.filter(({ kind }) => kind === 'delivery.abandoned')
    const ids = told.map(({ message }) => message)
    if (new Set(ids).size < ids.length) meet(world, 'an alert is repeated after a crash')
    const messages = [...new Map(told.toReversed().map((alert) => [alert.message, alert])).values()].toReversed()
    return [...nameProblems(abandoned, messages), ...spaceProblems(messages)]
  }
}

type Message = World['alerts'][number]

const nameProblems = (abandoned: readonly string[], messages: readonly Message[]): readonly string[] =>
  [...new Set(abandoned)].flatMap((id) => {
    const times = abandoned.filter((other) => other === id).length
    const named = messages.reduce((sum, { message }) => sum + message.split(id).length - 1, 0)
    return named === times ? [] : [`delivery ${id} was abandoned ${times} times, and ${named} alerts name it`]
  })

const spaceProblems = (messages: readonly Message[]): readonly string[] =>
  [...Map.groupBy(messages, ({ subject }) => subject)].flatMap(([endpoint, own]) =>
    own
      .slice(1)
      .filter(({ atMs }, at) => atMs - (own[at]?.atMs ?? 0) < QUARTER_MS - APART_MS)
      .map(({ atMs }) => `endpoint ${endpoint}: an alert at ${new Date(atMs).toISOString()} follows another too soon`),
  )
