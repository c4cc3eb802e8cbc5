import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { PROJECT_ROOT } from '../support/source-file.ts'
import { guardsOf, MODELS, withoutGuard } from './model.ts'

/** What of a configuration can be switched off. */
function switchesOf(config: string) {
  return new Set([...config.matchAll(/^ {2}(\w+) = TRUE$/gm)].map(([, name]) => name))
}

describe('the protocols on paper', () => {
  it.each(MODELS)(
    '$name has a guard for each thing it promises, and each switch is a guard of some',
    (model) => {
      const ofModule = MODELS.filter(({ module }) => module === model.module).flatMap(
        ({ guards }) => guards,
      )

      expect(new Set([...model.invariants, ...model.properties])).toStrictEqual(
        new Set(model.guards.map(({ breaks }) => breaks)),
      )
      expect(
        guardsOf(model.spec).filter(({ name }) => !ofModule.some((guard) => guard.name === name)),
      ).toStrictEqual([])
    },
  )

  it.each(MODELS.flatMap(({ guards }) => guards))(
    '$name is a condition that the code has where the model says',
    (guard) => {
      const code = readFileSync(join(PROJECT_ROOT, guard.path), 'utf8')

      expect(code).toMatch(new RegExp(`^(export )?const ${guard.declaration}\\b`, 'm'))
    },
  )

  const TWINS = MODELS.flatMap((model) =>
    model.guards.map((guard) => ({ model, guard, name: guard.name })),
  )
  it.each(TWINS)(
    'without $name the twin differs in one place, and is asked for one thing',
    ({ model, guard }) => {
      const twin = withoutGuard(model, guard)

      expect(switchesOf(model.config).difference(switchesOf(twin.config))).toStrictEqual(
        new Set([guard.name]),
      )
      expect([...twin.invariants, ...twin.properties]).toStrictEqual([guard.breaks])
    },
  )
})
