import type { StoredItem } from '../../../../infra/local/emulators/memory-table/stored-item.ts'
import type { Key } from '../../../../shared/table/keys.ts'
import { text } from '../../../support/recount/books.ts'
import type { Process } from '../../world/process.ts'
import type { World } from '../../world/world.ts'
import type { Observations } from '../observations.ts'
import { broken, isChanged, once, onWrite, type RowWrite, type Rule } from '../row-write.ts'
import { isOn } from './endpoint-states.ts'

type Write = RowWrite & { readonly before: StoredItem; readonly isOperator: boolean }

/** What an operator says of it, and what only workers do. */
const WISHES = ['enabled', 'event_types', 'deleted_at']
const FIXED = ['endpoint_id', 'client_id', 'url', 'secret_name', 'created_at', 'deleted_at']

const differs = ({ before, after }: Pick<Write, 'before' | 'after'>, names: readonly string[]): boolean =>
  names.some((name) => JSON.stringify(before[name]) !== JSON.stringify(after[name]))

const whenChanged: readonly Rule<Write>[] = [
  ['is another one than it was', ({ before, after }) => isChanged(before, after, FIXED)],
  ['is changed although it was deleted', (write) => write.before['deleted_at'] !== undefined && differs(write, WISHES)],
  ['is deleted and still on', ({ after }) => after['deleted_at'] !== undefined && after['enabled'] === true],
  ['is switched by no operator', (write) => !write.isOperator && differs(write, WISHES)],
  [
    'is marked anew although it was marked',
    ({ before, after }) => after['slow_since'] !== undefined && isChanged(before, after, ['slow_since']),
  ],
]

/** Of an endpoint, or of one that was deleted. */
const idOf = ({ sk }: Key): string => sk.slice(sk.indexOf('#') + 1)

/** Half of what an attempt may take: who waits for longer is held. */
const HELD_MS = 5_000

type Answer = { readonly postedMs: number; readonly isHeld: boolean; readonly isAnswered: boolean }

/**
 * Checked at every write to an endpoint: what operators have said stays said until another one says otherwise, with its
 * record; and of its mark, that attempts which held a worker give it, and that nothing but an answer takes it off.
 */
export const watchEndpointRows = (world: World, seen: Observations): void => {
  const markedMs = new Map<string, number>()
  /** What a worker has met at an endpoint, in its last attempts. */
  const answers = new WeakMap<Process, Map<string, Answer[]>>()
  const troubled = new WeakSet<Process>()
  const tell = (id: string, what: string) => void seen.problems.push(`endpoint ${id} ${what}`)

  /** The last of each endpoint. */
  const records = new Map<string, StoredItem>()
  /** What an endpoint was when its deletion took its row away. */
  const takenAway = new Map<string, StoredItem>()
  world.onChange.push(({ key, before, after }) => {
    if (key.sk.startsWith('ENDPOINT#') && before !== undefined && after === undefined) {
      const id = idOf(key)
      takenAway.set(id, before)
      once(() => {
        if (world.table.item({ pk: key.pk, sk: `GONE#${id}` }) === undefined) tell(id, 'is deleted without a trace')
      })
    }
    if (before === undefined && after?.['action'] !== undefined && key.pk.startsWith('AUDIT#'))
      records.set(key.pk.slice('AUDIT#'.length), after)
    if (!key.sk.startsWith('ENDPOINT#') || before?.['slow_since'] !== undefined || !after?.['slow_since']) return
    markedMs.set(idOf(key), world.scheduler.nowMs())
  })

  onWrite(
    world,
    ({ pk }) => pk.startsWith('ENDPOINTS#'),
    ({ before: own, ...row }) => {
      const { key, after, worker } = row
      const id = idOf(key)
      const before = own ?? (key.sk.startsWith('GONE#') ? takenAway.get(id) : undefined)
      if (before === undefined) {
        if (after['url'] === undefined || !isOn(after) || worker.name !== 'register-endpoint')
          tell(id, 'is made otherwise than by its registration')
        return
      }
      const write: Write = { ...row, before, isOperator: ['update-endpoint', 'delete-endpoint'].includes(worker.name) }
      for (const what of broken(whenChanged, write)) tell(id, what)
      if (write.isOperator) once(() => recordProblems(records.get(id), write).forEach((what) => tell(id, what)))
      // Of what was deleted the mark counts no more.
      if (key.sk.startsWith('GONE#')) return
      const [was, is] = [before['slow_since'], after['slow_since']]
      const met = answers.get(worker)?.get(id) ?? []
      if (was !== undefined && is === undefined) {
        if (!met.some(({ isAnswered }) => isAnswered)) tell(id, 'loses its mark although it has not answered')
        if (!met.some(({ postedMs }) => (markedMs.get(id) ?? 0) <= postedMs))
          tell(id, 'loses a mark that is newer than the attempt which it answered')
      }
      if (was === undefined && is !== undefined) {
        if (!met.some(({ isHeld }) => isHeld)) tell(id, 'is marked by an attempt that held no worker')
      }
    },
  )

  world.onAnswer.push(({ headers }, result, worker, postedMs) => {
    const pk = `DELIVERY#${headers['X-Gateway-Delivery-Id'] ?? ''}`
    const id = text(world.table.item({ pk, sk: 'DELIVERY' }) ?? {}, 'endpoint_id')
    const isHeld = result.durationMs >= HELD_MS
    const answer = { postedMs, isHeld, isAnswered: !isHeld && result.httpStatus !== undefined }
    const own = answers.get(worker) ?? new Map<string, Answer[]>()
    answers.set(worker, own.set(id, [...(own.get(id) ?? []), answer]))
  })

  world.onError.push((process) => troubled.add(process))
  world.onEnded.push((process, how) => {
    if (how !== 'done' || troubled.has(process)) return
    for (const [id, met] of answers.get(process) ?? []) {
      // Once it was marked others may have taken the mark off.
      if (met.every(({ isHeld }) => isHeld) && !markedMs.has(id) && !takenAway.has(id))
        tell(id, 'has held a worker, and is not marked')
    }
  })
}

/** The record of a change says what the endpoint was before it. */
const recordProblems = (record: StoredItem | undefined, { before, after, worker }: Write): readonly string[] => {
  const was = record?.['before'] as StoredItem | undefined
  if (was === undefined || record?.['action'] !== worker.name) return ['is changed without a record']
  return [
    ...(was['enabled'] === before['enabled'] ? [] : ['was switched otherwise than the record of its change says']),
    ...(JSON.stringify(was['event_types']) === JSON.stringify(before['event_types'])
      ? []
      : ['was subscribed otherwise than the record of its change says']),
    ...(worker.name === 'delete-endpoint' && after['deleted_at'] === undefined
      ? ['is not deleted by its deletion']
      : []),
  ]
}
