/**
 * Goal: the operators of `npm run mutants`, which runs at night, change what they name. Its ids
 * stay the same, and its list of exceptions stays valid.
 */
import { describe, expect, it } from 'vitest'
import { parseSource, sourcesIn } from '../support/source-file.ts'
import { EXCEPTIONS } from './exceptions.ts'
import { chosenFrom, MOST, mutantsOf, withMutant } from './generate-mutants.ts'
import { areaOf } from './guarded-code.ts'

const PATH = 'shared/payment/charge.ts'

const CODE = `
const MAX_ENDPOINTS = 8
const PAGE = 50
const LEASE_MS = 5 * MINUTE_MS
const isOpen = all(equals('status', 'open'), below('dueAt', now))
export const charge = async (deps: Deps, item: Item): Promise<Minor> => {
  if (item.paid && item.since <= now) return ZERO
  await deps.table.write(update(itemKey(item.id, part), { set: { paidAt: now, paid: true } }, isOpen))
  const { applied } = await deps.table.transact({ payment: paid(item), ledger: credit(item) })
  deps.log.info('charged', { left: MAX_ENDPOINTS - 1, isOpen: true })
  const isOwn = items.filter(isPaid).every((other) => other.clientId === item.clientId)
  return isOwn ? less(item.netMinor, item.rest * 2) : given ?? ZERO + 1
}
`

function mutantsIn(text: string) {
  return mutantsOf(parseSource(PATH, text))
}

/** Unchanged code is left out. */
function changesIn(text: string) {
  return Object.fromEntries(
    [...Map.groupBy(mutantsIn(text), ({ operator }) => operator)].map(([operator, mutants]) => [
      operator,
      mutants.map(({ start, end, by }) => `${text.slice(start, end)} -> ${by}`),
    ]),
  )
}

describe('the operators', () => {
  it('change each place of a file as expected, except logging', () => {
    expect(changesIn(CODE)).toStrictEqual({
      'condition true': ['item.paid && item.since <= now -> true', 'isOwn -> true'],
      'condition false': ['item.paid && item.since <= now -> false', 'isOwn -> false'],
      'operand dropped': [
        'item.paid && item.since <= now -> item.since <= now',
        'item.paid && item.since <= now -> item.paid',
        'given ?? ZERO + 1 -> ZERO + 1',
      ],
      'comparison moved': [
        "below('dueAt', now) -> ({ test: 'atMost', field: 'dueAt', value: now })",
        'item.since <= now -> item.since < now',
      ],
      'choice reversed': [
        'true -> false',
        'every -> some',
        'other.clientId === item.clientId -> other.clientId !== item.clientId',
      ],
      'sum changed': [
        'less(item.netMinor, item.rest * 2) -> (item.netMinor)',
        'item.rest * 2 -> item.rest / 2',
        'ZERO + 1 -> ZERO',
        'ZERO + 1 -> 1',
      ],
      'bound moved': [
        '8 -> (8) + 1',
        '8 -> (8) - 1',
        '5 * MINUTE_MS -> (5 * MINUTE_MS) * 10',
        '5 * MINUTE_MS -> (5 * MINUTE_MS) / 10',
      ],
      'condition dropped': [
        "equals('status', 'open'),  -> ",
        ", below('dueAt', now) -> ",
        "all(equals('status', 'open'), below('dueAt', now)) -> ({ test: 'any', of: " +
          "[equals('status', 'open'), below('dueAt', now)] })",
        'items.filter(isPaid) -> items',
      ],
      'step unguarded': ['isOpen -> undefined'],
      'step dropped': ['payment: paid(item),  -> ', ', ledger: credit(item) -> '],
      'change dropped': [
        'set: { paidAt: now, paid: true } -> ',
        'paidAt: now,  -> ',
        ', paid: true -> ',
      ],
      'write dropped': [
        'await deps.table.write(update(itemKey(item.id, part), { set: { paidAt: now, paid: ' +
          'true } }, isOpen)) -> {}',
        'deps.table.transact({ payment: paid(item), ledger: credit(item) }) -> ({ applied: ' +
          'true, item: undefined })',
      ],
      'key widened': [', part -> '],
      'field swapped': [
        'clientId -> endpointId',
        'clientId -> endpointId',
        'item.netMinor, item.rest * 2 -> item.rest * 2, item.netMinor',
        'netMinor -> notionalMinor',
      ],
    })
  })

  it('drop the last part of a key', () => {
    const text = 'export const ownPk = (a: string, b: string) => `OWN#${a}#${b}`'
    const mutants = mutantsOf(parseSource('shared/table/keys.ts', text))

    expect(mutants.map((mutant) => withMutant(text, mutant))).toStrictEqual([
      text.replace('${b}', ''),
    ])
  })
})

describe('the ids', () => {
  it('stay when other code of the file changes, is added before or is reformatted, and change with their own code', () => {
    const edited = CODE.replace(
      'const isOpen',
      'const before = 1 < 2\n// why\nconst isOpen',
    ).replace('{ payment', '{\n  payment')
    const ids = mutantsIn(CODE).map(({ id }) => id)
    const kept = mutantsIn(edited).filter(({ declaration }) => declaration !== 'before')
    const moved = mutantsIn(CODE.replace('MAX_ENDPOINTS = 8', 'MAX_ENDPOINTS = 9'))

    expect(kept.map(({ id }) => id)).toStrictEqual(ids)
    expect(moved.filter(({ id }) => !ids.includes(id))).toHaveLength(2)
  })
})

describe('the mutants of the gateway', () => {
  const sources = sourcesIn('shared', 'functions')
  const all = sources.flatMap(mutantsOf)
  const chosen = chosenFrom(all)

  it('have unique ids, and are chosen from all mutants', () => {
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
    expect(chosen).toHaveLength(MOST)
  })

  it('break code of every domain', () => {
    const domains = Map.groupBy(
      sources,
      ({ path }) => /^shared\/\w[\w-]*(?=\/)/.exec(path)?.[0] ?? '',
    )
    const spared = [...domains].filter(([, files]) =>
      files.every(({ path }) => areaOf(path) === undefined),
    )

    expect(spared.map(([domain]) => domain)).toStrictEqual([])
  })

  it('stay chosen when other mutants are added', () => {
    const fewer = new Set(
      chosenFrom(all.filter(({ path }) => path !== 'shared/money.ts')).map(({ id }) => id),
    )

    expect(
      chosen.filter(({ id, path }) => path !== 'shared/money.ts' && !fewer.has(id)),
    ).toStrictEqual([])
  })

  it('exist if they are listed as exceptions', () => {
    const ids = new Set(all.map(({ id }) => id))

    expect([...EXCEPTIONS].filter((id) => !ids.has(id))).toStrictEqual([])
  })
})
