import type { StoredItem } from '../../../../infra/local/emulators/memory-table/stored-item.ts'
import { text } from '../../../support/recount/books.ts'
import type { Process } from '../../world/process.ts'
import type { World } from '../../world/world.ts'
import type { Observations } from '../observations.ts'
import { broken, isChanged, ms, onWrite, type RowWrite, type Rule } from '../row-write.ts'

type Write = RowWrite & {
  readonly before: StoredItem
  /** How often the operators had to be told so far, and were. */
  readonly owed: number
  readonly told: number
}

const FIXED = ['suspense_id', 'kind', 'payment_id', 'provider_payment_id', 'owner', 'entity', 'id']
/** Of money that came once and for all. */
const OF_MONEY = ['amount_minor', 'cause', 'created_at', 'listed_at', 'client_id']

const isOwed = (item: StoredItem | undefined): boolean => item?.['work'] === 'alert'

const rules: readonly Rule<Write>[] = [
  [
    'is another one than it was',
    ({ before, after }) =>
      isChanged(before, after, FIXED) || (before['kind'] === 'money' && isChanged(before, after, OF_MONEY)),
  ],
  ['is money that is held anew', ({ before, after }) => before['kind'] === 'money' && !isOwed(before) && isOwed(after)],
  [
    'is money that is open again',
    ({ before, after }) =>
      before['kind'] === 'money' && before['status'] === 'resolved' && after['status'] !== 'resolved',
  ],
  [
    'is resolved a second time',
    ({ before, after }) =>
      before['status'] === 'resolved' &&
      after['status'] === 'resolved' &&
      isChanged(before, after, ['resolution', 'notes', 'left_out_by', 'reinstated_by']),
  ],
  [
    'is put off before its time',
    ({ before, after, nowMs, apartMs }) =>
      isOwed(before) &&
      isOwed(after) &&
      before['due_at'] !== after['due_at'] &&
      before['status'] === after['status'] &&
      before['kind'] === 'money' &&
      ms(before, 'due_at') > nowMs + apartMs,
  ],
  [
    'leaves the due work before anybody was told',
    ({ before, after, owed, told }) => isOwed(before) && !isOwed(after) && told < owed,
  ],
]

/** Checked at every write to what is held or found, and when operators are told: each is told of once it must be, and no more. */
export const watchSuspenseAlerts = (world: World, seen: Observations): void => {
  const owed = new Map<string, number>()
  /** Who wrote it tells of it, however long that takes; meanwhile due work may have told of it too. */
  const writers = new Map<string, Process>()
  /** Who has put it off to tell of it: where that takes longer than it was put off by, another one tells of it, too. */
  const claims = new Map<string, Set<Process>>()
  const toldOf = (id: string) =>
    world.alerts.filter(({ kind, subject }) => kind.startsWith('suspense.') && subject === id)

  world.onChange.push(({ key, before, after }) => {
    if (key.sk !== 'SUSPENSE' || isOwed(before) || !isOwed(after)) return
    const id = text(after ?? {}, 'suspense_id')
    owed.set(id, (owed.get(id) ?? 0) + 1)
  })

  onWrite(
    world,
    ({ sk }) => sk === 'SUSPENSE',
    ({ before, ...row }) => {
      const id = text(row.after, 'suspense_id')
      if (before === undefined) {
        writers.set(id, row.worker)
        if (!isOwed(row.after) || row.after['due_at'] === undefined)
          seen.problems.push(`${id} is held, and operators need not be told`)
        return
      }
      if (isOwed(before) && isOwed(row.after) && before['due_at'] !== row.after['due_at'])
        claims.set(id, (claims.get(id) ?? new Set()).add(row.worker))
      const write: Write = { ...row, before, owed: owed.get(id) ?? 0, told: toldOf(id).length }
      for (const what of broken(rules, write)) seen.problems.push(`${id} ${what}`)
    },
  )

  world.onTold.push(({ kind, subject }, process) => {
    // What was found is told again where it is found by two at once.
    if (kind !== 'suspense.money') return
    // What stood still goes on as an invocation of the same function, which has woken it.
    if (writers.get(subject)?.name === process.name || claims.get(subject)?.delete(process)) return
    if (!isOwed(world.table.item({ pk: `SUSPENSE#${subject}`, sk: 'SUSPENSE' })))
      seen.problems.push(`operators are told of ${subject}, of which they were told`)
  })
}
