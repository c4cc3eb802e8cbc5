import { amount, type RawItem, text } from '../../support/books.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { isRewritten, type Rule, setMoved, type Write, watchRules } from './rules.ts'

/** Items of a kind that the same write has made. */
const made = ({ written }: Write, isOne: (pk: string) => boolean): readonly RawItem[] =>
  written.flatMap(({ key, before, after }) => (isOne(key.pk) && before === undefined && after ? [after] : []))

const recorded = (write: Write) => made(write, (pk) => pk.startsWith('SETTLEMENT#'))
const swept = (write: Write) => recorded(write).filter(({ replaces }) => replaces === undefined)
const reversals = (write: Write) => made(write, (pk) => pk.endsWith('#REVERSALS'))

/** Settlements that the same write has brought into a state. */
const become = ({ written }: Write, isThere: (settlement: RawItem) => boolean): readonly string[] =>
  written.flatMap(({ key, before, after }) =>
    key.sk === 'SETTLEMENT' && after && isThere(after) && !(before && isThere(before))
      ? [text(after, 'settlement_id')]
      : [],
  )

const isPaid = ({ status }: RawItem) => status === 'manual_paid'
const isRecredited = ({ recredited_at: at }: RawItem) => at !== undefined

const isSame = (one: readonly unknown[], other: readonly unknown[]): boolean =>
  one.length === other.length && one.every((value) => other.includes(value))

/** A re-credit of which nothing is left waits for nothing. */
const isWaitedFor = ({ written }: Write, id: string): boolean => {
  const settlement = written.find(({ key }) => key.pk === `SETTLEMENT#${id}`)?.after ?? {}
  const gone = (settlement['reversed_payment_ids'] as ReadonlySet<unknown> | undefined)?.size ?? 0
  return amount(settlement, 'payment_count') > gone
}

const OF_WINDOWS: readonly Rule<Write>[] = [
  [
    'is swept backwards, or twice',
    ({ before, after, isNew }) => !isNew && text(after, 'settled_until') < text(before, 'settled_until'),
  ],
  [
    'is swept without a settlement of just that span',
    (write) =>
      isRewritten(write, 'settled_until') &&
      !swept(write).some(
        (settlement) =>
          settlement['period_start'] === write.before['settled_until'] &&
          settlement['period_end'] === write.after['settled_until'],
      ),
  ],
  [
    'stays where it is although a settlement takes from it',
    (write) => swept(write).length > 0 && !isRewritten(write, 'settled_until'),
  ],
  [
    'numbers what went back otherwise than one by one',
    ({ before, after, ...write }) => {
      const numbered = amount(after, 'reversal_seq') - amount(before, 'reversal_seq')
      const items = reversals({ before, after, ...write })
      return numbered !== items.length || items.some((item) => item['seq'] !== after['reversal_seq'])
    },
  ],
  [
    'waits for other settlements than those that were re-credited',
    (write) => {
      const { added } = setMoved(write, 'recredited_ids')
      return !isSame(
        added,
        become(write, isRecredited).filter((id) => isWaitedFor(write, id)),
      )
    },
  ],
  [
    'waits no longer for what nobody has recorded again',
    (write) =>
      !isSame(
        setMoved(write, 'recredited_ids').removed,
        recorded(write).flatMap(({ replaces }) => replaces ?? []),
      ),
  ],
  [
    'holds other settlements for open than those that are',
    (write) => {
      const { added, removed } = setMoved(write, 'open_ids')
      const ended = [...become(write, isPaid), ...become(write, isRecredited)]
      const begun = recorded(write).map((settlement) => text(settlement, 'settlement_id'))
      return !(isSame(added, begun) && isSame(removed, ended))
    },
  ],
  ['has fewer parts than it had', ({ before, after }) => amount(after, 'parts') < amount(before, 'parts')],
]

const AMOUNTS = ['notional_minor', 'provider_fee_minor', 'markup_minor', 'net_minor'] as const

const windowOf = ({ world, key }: Write): RawItem =>
  world.table.item({ pk: key.pk.slice(0, -'#REVERSALS'.length), sk: 'WINDOW' }) ?? {}

const paymentOf = ({ world, after }: Write): RawItem =>
  world.table.item({ pk: `PAYMENT#${text(after, 'payment_id')}`, sk: 'PAYMENT' }) ?? {}

const OF_REVERSALS: readonly Rule<Write>[] = [
  [
    'is put where a settlement has swept already',
    (write) => write.isNew && text(write.after, 'paid_at') < text(windowOf(write), 'settled_until'),
  ],
  [
    'has not the number that its window is at',
    (write) => write.isNew && write.after['seq'] !== windowOf(write)['reversal_seq'],
  ],
  [
    'has the number of another one',
    ({ world, key, after, isNew }) =>
      isNew && world.table.items(key.pk).some((one) => one['seq'] === after['seq'] && one['sk'] !== key.sk),
  ],
  [
    'is of other amounts than its payment',
    (write) => write.isNew && AMOUNTS.some((name) => write.after[name] !== paymentOf(write)[name]),
  ],
  [
    'deducts what can still change',
    (write) => write.isNew && write.after['part'] === undefined && paymentOf(write)['fee_status'] === 'estimated',
  ],
  [
    'is written otherwise than it was',
    (write) =>
      ['payment_id', 'paid_at', 'seq', 'part', 'undone_by', ...AMOUNTS].some((name) => isRewritten(write, name)),
  ],
  [
    'is undone by nothing of its number',
    (write) =>
      write.before['undone_by'] !== write.after['undone_by'] &&
      !reversals(write).some(({ undoes, seq }) => undoes === write.after['seq'] && seq === write.after['undone_by']),
  ],
]

/** Checked at every write to a client's window and to what went back of it: what design sections 4 and 10 let it do. */
export const watchWindows = (world: World, seen: Observations): void =>
  watchRules(world, seen, ({ pk, sk }, { isNew }) => {
    if (pk.endsWith('#REVERSALS')) return OF_REVERSALS
    return sk === 'WINDOW' && !isNew ? OF_WINDOWS : []
  })
