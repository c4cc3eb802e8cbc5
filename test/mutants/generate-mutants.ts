import { createHash } from 'node:crypto'
import type { ESTree } from 'vite'
import type { SourceFile } from '../support/source-file.ts'
import { type Area, areaOf } from './guarded-code.ts'
import { type Break, breaksIn } from './operators.ts'

/** One way to break the gateway on purpose. Some test must notice. */
export type Mutant = Break & {
  /** Where and how, and a hash of the code it breaks. It stays the same until that code changes. */
  readonly id: string
  readonly path: string
  /** The function, constant or class at the top of the file that it breaks. */
  readonly declaration: string
  readonly area: Area
  readonly line: number
}

/** How many a run takes. More are not more useful while the survivors of these have no answer. */
export const MOST = 600

export function mutantsOf({ path, text, program }: SourceFile): readonly Mutant[] {
  const area = areaOf(path)
  if (area === undefined) return []
  return program.body.flatMap((statement) => {
    const [declaration] = namesIn(statement)
    if (declaration === undefined) return []
    const times = new Map<string, number>()
    const seen = new Set<string>()
    // Two operators that come to the same are one.
    const breaks = breaksIn(statement, path, text).filter(({ start, end, by }) => {
      const change = `${start} ${end} ${by}`
      return text.slice(start, end) !== by && !seen.has(change) && seen.add(change)
    })
    return breaks.map((one) => {
      const code = `${one.operator}: ${text.slice(one.start, one.end)} -> ${one.by}`
      const change = code
        .replaceAll(/\/\/.*$/gm, '')
        .replaceAll(/\s+/g, ' ')
        .trim()
      const before = times.get(change) ?? 0
      times.set(change, before + 1)
      const id = `${path} ${declaration}: ${one.operator} ${hashOf(`${change} ${before}`)}`
      return {
        ...one,
        id,
        path,
        declaration,
        area,
        line: text.slice(0, one.start).split('\n').length,
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

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8)
}

/** Operators take turns, and so do declarations. A hash orders the rest, so a choice stays when other code changes. */
export function chosenFrom(mutants: readonly Mutant[], most = MOST): readonly Mutant[] {
  const hashes = new Map(mutants.map((mutant) => [mutant, hashOf(mutant.id)]))
  const byHash = mutants.toSorted((a, b) =>
    (hashes.get(a) ?? '').localeCompare(hashes.get(b) ?? ''),
  )
  const declared = inTurns(
    byHash,
    ({ operator, path, declaration }) => `${operator} ${path} ${declaration}`,
  )
  return inTurns(declared, ({ operator }) => operator).slice(0, most)
}

/** One of each group, then another one of each, and so on. */
function inTurns(
  mutants: readonly Mutant[],
  groupOf: (mutant: Mutant) => string,
): readonly Mutant[] {
  return [...Map.groupBy(mutants, groupOf).values()]
    .flatMap((group) => group.map((mutant, turn) => ({ mutant, turn })))
    .toSorted((a, b) => a.turn - b.turn)
    .map(({ mutant }) => mutant)
}

export function withMutant(text: string, { start, end, by }: Break): string {
  return text.slice(0, start) + by + text.slice(end)
}
