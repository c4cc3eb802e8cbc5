import { createHash } from 'node:crypto'
import type { ESTree } from 'vite'
import type { SourceFile } from '../support/source-file.ts'
import type { Break } from './break.ts'
import { type Area, areaOf } from './guarded-code.ts'
import { breaksIn } from './operators.ts'

export type Mutant = Break & {
  /**
   * Place, operator and a hash of the broken code. The id stays the same until that code changes.
   */
  readonly id: string
  readonly path: string
  readonly declaration: string
  readonly area: Area
  readonly line: number
}

/**
 * How many mutants a run takes. More mutants are not useful while the survivors among these have no
 * answer.
 */
export const MOST = 600

export function mutantsOf({ path, text, program }: SourceFile): readonly Mutant[] {
  const area = areaOf(path)
  if (area === undefined) return []
  return program.body.flatMap((statement) => {
    const [declaration] = namesIn(statement)
    if (declaration === undefined) return []
    const times = new Map<string, number>()
    const seen = new Set<string>()
    // Two operators that make the same change make one mutant.
    const breaks = breaksIn(statement, path, text).filter(({ start, end, by }) => {
      const change = `${start} ${end} ${by}`
      return text.slice(start, end) !== by && !seen.has(change) && seen.add(change)
    })
    return breaks.map((mutation) => {
      const code = `${mutation.operator}: ${text.slice(mutation.start, mutation.end)} -> ${mutation.by}`
      const change = code
        .replaceAll(/\/\/.*$/gm, '')
        .replaceAll(/\s+/g, ' ')
        .trim()
      const before = times.get(change) ?? 0
      times.set(change, before + 1)
      const id = `${path} ${declaration}: ${mutation.operator} ${hashOf(`${change} ${before}`)}`
      return {
        ...mutation,
        id,
        path,
        declaration,
        area,
        line: text.slice(0, mutation.start).split('\n').length,
      }
    })
  })
}

function namesIn(statement: ESTree.Node): readonly string[] {
  if (statement.type === 'ExportNamedDeclaration')
    return statement.declaration ? namesIn(statement.declaration) : []
  if (statement.type === 'FunctionDeclaration' || statement.type === 'ClassDeclaration') {
    return statement.id ? [statement.id.name] : []
  }
  if (statement.type !== 'VariableDeclaration') return []
  return statement.declarations.flatMap(({ id }) => (id.type === 'Identifier' ? [id.name] : []))
}

function hashOf(text: string) {
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}

/**
 * Operators take turns, and so do declarations. A hash orders the rest, so a choice stays when
 * other code changes.
 */
export function chosenFrom(mutants: readonly Mutant[]) {
  const hashes = new Map(mutants.map((mutant) => [mutant, hashOf(mutant.id)]))
  const byHash = mutants.toSorted((a, b) =>
    (hashes.get(a) ?? '').localeCompare(hashes.get(b) ?? ''),
  )
  const declared = alternate(
    byHash,
    ({ operator, path, declaration }) => `${operator} ${path} ${declaration}`,
  )
  return alternate(declared, ({ operator }) => operator).slice(0, MOST)
}

function alternate(mutants: readonly Mutant[], groupOf: (mutant: Mutant) => string) {
  return [...Map.groupBy(mutants, groupOf).values()]
    .flatMap((group) => group.map((mutant, turn) => ({ mutant, turn })))
    .toSorted((a, b) => a.turn - b.turn)
    .map(({ mutant }) => mutant)
}

export function withMutant(text: string, { start, end, by }: Break) {
  return text.slice(0, start) + by + text.slice(end)
}
