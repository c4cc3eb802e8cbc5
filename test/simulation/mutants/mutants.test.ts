/**
 * Goal: `npm run mutants` takes minutes and runs now and then; that its list still fits the code is held here, and that
 * a mutant is lost by nothing but a change of the very code it breaks.
 */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PROJECT_ROOT, parseSource, sourcesIn } from '../../support/source-file.ts'
import { FLOWS } from '../crashes/flows.ts'
import { placeMutant } from '../mutation/place-mutant.ts'
import { MUTANTS } from './mutants.ts'
import { BESIDE } from './unseen/beside.ts'
import { OUTSIDE } from './unseen/outside.ts'
import { SECOND_LOCKS } from './unseen/second-locks.ts'

const SOURCES = sourcesIn('shared', 'functions', 'infra')

describe('the mutants', () => {
  it.each(MUTANTS)('"$name" changes $symbol in one place', (mutant) => {
    const { path, original, mutated } = placeMutant(SOURCES, mutant)

    expect(mutated).not.toBe(original)
    expect(() => parseSource(path, mutated)).not.toThrow()
  })

  it('are all different, and named differently', () => {
    const changes = MUTANTS.map((mutant) => JSON.stringify(placeMutant(SOURCES, mutant)))

    expect(new Set(changes).size).toBe(MUTANTS.length)
    expect(new Set(MUTANTS.map(({ name }) => name)).size).toBe(MUTANTS.length)
  })

  it('go unnoticed by histories for one reason each, and only where there is a mutant', () => {
    const unseen = [SECOND_LOCKS, BESIDE, OUTSIDE].flatMap((reasons) => Object.keys(reasons))
    const names = new Set(MUTANTS.filter(({ diesWithin }) => diesWithin === undefined).map(({ name }) => name))

    expect(unseen.filter((name, at) => !names.has(name) || unseen.indexOf(name) < at)).toStrictEqual([])
  })

  it('are counted in the documents as they are listed', () => {
    const listed = [SECOND_LOCKS, BESIDE, OUTSIDE].map((reasons) => Object.keys(reasons).length)
    const nobody = MUTANTS.filter(({ equivalent }) => equivalent !== undefined).length
    const [locks = 0, beside = 0, outside = 0] = listed
    const others = MUTANTS.length - nobody - locks - beside - outside
    const text = readFileSync(join(PROJECT_ROOT, 'docs/reliability.md'), 'utf8')

    expect(text).toContain(`(${locks} there, and the ${nobody} of the list that no test can notice)`)
    expect(text).toContain(`a nicety (${beside})`)
    expect(text).toContain(`have a stand-in (${outside})`)
    expect(text).toContain(`of the other ${others}, 85 in a hundred must die`)
  })

  it('have tests and flows that exist, each test file once', () => {
    const flows = FLOWS.map(({ name }) => name)
    const files = readdirSync(join(PROJECT_ROOT, 'test'), { recursive: true, encoding: 'utf8' })
    const found = (test: string) => files.filter((file) => `/${file}`.endsWith(`/${test}.test.ts`))

    expect(MUTANTS.flatMap(({ tests = [] }) => tests.filter((test) => found(test).length !== 1))).toStrictEqual([])
    expect(MUTANTS.flatMap(({ crashes = [] }) => crashes.filter((name) => !flows.includes(name)))).toStrictEqual([])
    expect(
      MUTANTS.filter(({ tests = [], histories, crashes = [] }) => !histories && tests.length + crashes.length === 0),
    ).toStrictEqual([])
  })
})

const CODE = `
const claimed = (item: Item, now: string) => all(isOpen, equals('token', item.token), below('due', now))
export const charge = async (deps: Deps, item: Item) => {
  if (item.paid || item.late) return
  await deps.table.transact({ payment: paid(item), ledger: credit(item, item.net) })
}
`

const mutate = (symbol: string, edit: string, code = CODE): string => {
  const { original, mutated } = placeMutant([parseSource('shared/charge.ts', code)], { name: 'it', symbol, edit })
  const lines = original.split('\n')
  return mutated
    .split('\n')
    .filter((line) => !lines.includes(line))
    .join('\n')
    .trim()
}

describe('placing a mutant', () => {
  it.each([
    ['claimed', 'drop isOpen', "(item: Item, now: string) => all(equals('token', item.token), below('due', now))"],
    ['claimed', 'drop below(..._)', "=> all(isOpen, equals('token', item.token))"],
    ['claimed', 'below(_, _) -> atMost(_, _)', "atMost('due', now)"],
    ['claimed', "equals('token', ..._) -> present('token', ..._)", "present('token', item.token)"],
    ['claimed', 'all(..._) -> any(..._)', "any(isOpen, equals('token', item.token), below('due', now))"],
    ['charge', 'drop item.paid', 'if (item.late) return'],
    ['charge', 'drop item.late', 'if (item.paid) return'],
    ['charge', 'drop payment: _', '{ ledger: credit(item, item.net) }'],
    ['charge', 'drop ledger: _', '{ payment: paid(item) }'],
    ['charge', 'item.net -> item.gross', 'credit(item, item.gross)'],
    ['charge/charge', 'if (_) return -> if (!(_)) return', 'if (!(item.paid || item.late)) return'],
  ])('in %s: %s', (symbol, edit, line) => {
    expect(mutate(symbol, edit)).toContain(line)
  })

  it('drops a guard by its condition, and a statement', () => {
    const at = (edit: string) =>
      placeMutant([parseSource('a.ts', CODE)], { name: 'it', symbol: 'charge', edit }).mutated

    expect(at('drop item.paid || item.late')).not.toContain('return')
    expect(at('drop deps.table.transact(_)')).not.toContain('await')
  })

  it('does not mind layout, comments, spelling, other code, or the folder', () => {
    const laidOut = CODE.replace("equals('token', item.token), ", '(equals(\n  "token", // why\n  item.token,\n)),\n')
    const moved = parseSource('shared/deep/other.ts', `const isOpen = equals('token', item.token)\n${laidOut}`)

    expect(placeMutant([moved], { name: 'it', symbol: 'claimed', edit: "drop equals('token', _)" }).mutated).toContain(
      "all(isOpen, below('due', now))",
    )
  })

  it.each([
    ['gone', 'drop isOpen', 'nothing is called gone'],
    ['claimed', 'drop isCreating', 'isCreating is 0 times in claimed (shared/charge.ts), not once'],
    ['charge', 'item -> undefined', 'item is 5 times in charge (shared/charge.ts), not once'],
  ])('says what to do where it finds not one place: %s, %s', (symbol, edit, problem) => {
    expect(() => mutate(symbol, edit)).toThrow(
      `mutant "it": ${problem}. If that code was renamed or rewritten, address`,
    )
  })
})
