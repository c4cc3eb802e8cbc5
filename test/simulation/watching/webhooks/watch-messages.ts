import type { StoredItem } from '../../../../infra/local/emulators/memory-table/stored-item.ts'
import type { Process } from '../../world/process.ts'
import type { World } from '../../world/world.ts'
import type { Observations } from '../observations.ts'
import { ms, watchClocks, watchStarts } from '../row-write.ts'

const MOST_SECONDS = 900

/** A delivery's message as a worker was given it, and the row as it was then. */
type Given = { readonly attempt: number; readonly isSlow: boolean; readonly row: StoredItem | undefined }

type Sent = { readonly attempt: number; readonly delaySeconds: number; readonly isSlow: boolean }

const isScheduled = (row: StoredItem | undefined): row is StoredItem =>
  (row?.['status'] ?? row?.['state']) === 'scheduled'

/** What an invocation of the worker was given, by delivery. */
const givenIn = (world: World, event: unknown): ReadonlyMap<string, readonly Given[]> => {
  const records = Object(event).Records as readonly { readonly body: string }[]
  const messages = records.map(({ body }) => JSON.parse(body) as Readonly<Record<string, unknown>>)
  const given = messages.map((message) => {
    const id = String(message['delivery_id'])
    const row = world.table.item({ pk: `DELIVERY#${id}`, sk: 'DELIVERY' })
    return [id, { attempt: Number(message['attempt']), isSlow: message['slow'] === true, row }] as const
  })
  return new Map([...Map.groupBy(given, ([id]) => id)].map(([id, all]) => [id, all.map(([, one]) => one)]))
}

/**
 * Checked at every message of a delivery, and when its worker comes to its end: as long as a delivery is under way some
 * message is, too; none of them comes before there is something to do, or is worked off when that is done.
 */
export const watchMessages = (world: World, seen: Observations): void => {
  const apartMs = watchClocks(world)
  const startedMs = watchStarts(world)
  const given = new WeakMap<Process, ReadonlyMap<string, readonly Given[]>>()
  const sent = new WeakMap<Process, Map<string, Sent[]>>()
  const troubled = new WeakSet<Process>()
  /** Rows whose claim by due work was refused to this process. */
  const refused = new WeakMap<Process, Set<string>>()
  const tell = (id: string, what: string) => void seen.problems.push(`delivery ${id} ${what}`)

  /** Attempts that have failed and are not the last of their round, by who has noted them. */
  const notedBy = new WeakMap<Process, Set<string>>()
  world.onChange.push(({ key, before, after }) => {
    if (key.sk !== 'DELIVERY' || world.acting === undefined || before?.['attempts'] === after?.['attempts']) return
    if (!isScheduled(after)) return
    const number = `${key.pk.slice('DELIVERY#'.length)} ${Number(after?.['attempts'])}`
    notedBy.set(world.acting, (notedBy.get(world.acting) ?? new Set()).add(number))
  })

  world.onStarted.push((process, event) => {
    if (process.name === 'deliver-webhook') given.set(process, givenIn(world, event))
  })

  world.onRefused.push(({ key, kind, ...step }) => {
    const { acting } = world
    const isMove = kind === 'update' && 'changes' in step && step.changes.set?.['dueAt'] !== undefined
    if (acting === undefined || !isMove || acting.name !== 'check-due-deliveries') return
    refused.set(acting, (refused.get(acting) ?? new Set()).add(`${key.pk} ${key.sk}`))
  })

  world.onMessage.push((queue, { body, delaySeconds }, process) => {
    if (!queue.startsWith('webhooks')) return
    const id = String(Reflect.get(body, 'delivery_id'))
    const row = world.table.item({ pk: `DELIVERY#${id}`, sk: 'DELIVERY' })
    const one = { attempt: Number(Reflect.get(body, 'attempt')), delaySeconds, isSlow: queue === 'webhooks-slow' }
    const own = sent.get(process) ?? new Map<string, Sent[]>()
    sent.set(process, own.set(id, [...(own.get(id) ?? []), one]))
    if (refused.get(process)?.has(`DELIVERY#${id} DELIVERY`) === true)
      tell(id, 'gets a message by a worker that was refused it')
    if (row === undefined) return tell(id, 'gets a message before it is there')
    if (one.attempt > Number(row['attempts']) + 1) tell(id, 'gets a message about an attempt that is not next')
    const met = given.get(process)?.get(id)
    if (met === undefined) return
    // As its worker has met it, or left it.
    const isKnown =
      met.some(({ row: was }) => was === row) || notedBy.get(process)?.has(`${id} ${Number(row['attempts'])}`)
    if (isKnown === true && isEarly(world, row, one, apartMs())) tell(id, 'gets a message that comes before its time')
    if (met.every(({ attempt, row: was }) => attempt <= Number(was?.['attempts'])))
      tell(id, 'gets a message for one about an attempt that was made')
    const isDue = ms(row, 'next_attempt_at') < world.scheduler.nowMs() - apartMs() && row['claim_token'] === undefined
    if (met.every(({ isSlow }) => isSlow) && delaySeconds === 0 && isDue) tell(id, 'is sent on within the slow lane')
  })

  world.onError.push((process) => troubled.add(process))
  world.onEnded.push((process, how) => {
    if (how !== 'done' || troubled.has(process)) return
    for (const [id, messages] of given.get(process) ?? []) {
      const row = world.table.item({ pk: `DELIVERY#${id}`, sk: 'DELIVERY' })
      const next = Number(row?.['attempts']) + 1
      const isTold =
        sent
          .get(process)
          ?.get(id)
          ?.some(({ attempt }) => attempt === next) === true
      if (!isScheduled(row) || isTold) continue
      // As it was when this worker began: no other has looked at it since.
      const wasMeant = messages.some(({ attempt, row: was }) => attempt === next && was === row)
      const isLater =
        ms(row, row['claim_token'] === undefined ? 'next_attempt_at' : 'claimed_until') > startedMs(process) + apartMs()
      if (wasMeant && (isLater || row['claim_token'] !== undefined)) tell(id, 'waits, and its message is gone')
      const made = messages.some(
        ({ attempt, row: was }) => attempt === next - 1 && Number(was?.['attempts']) === next - 2,
      )
      if (made && notedBy.get(process)?.has(`${id} ${next - 1}`))
        tell(id, 'has failed, and no message leads to its next attempt')
    }
  })
}

/** A message waits as long as its delivery, as far as a queue can hold it. */
const isEarly = (world: World, row: StoredItem, { attempt, delaySeconds }: Sent, apartMs: number): boolean => {
  if (!isScheduled(row) || attempt !== Number(row['attempts']) + 1) return false
  const untilMs = ms(row, row['claim_token'] === undefined ? 'next_attempt_at' : 'claimed_until')
  const arrivesMs = world.scheduler.nowMs() + delaySeconds * 1_000
  return delaySeconds > 0 && delaySeconds < MOST_SECONDS && arrivesMs < untilMs - apartMs
}
