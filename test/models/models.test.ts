import { describe, expect, it } from 'vitest'
import { projectText } from '../support/source-file.ts'
import { guardsOf, MODELS, withoutGuard } from './model.ts'

function switchesOf(config: string) {
  return new Set([...config.matchAll(/^ {2}(\w+) = TRUE$/gm)].map(([, name]) => name))
}

describe('the models of the protocols', () => {
  it.each(MODELS)(
    '$name has a guard for each promise, and each of its switches is a guard of some configuration',
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
      const code = projectText(guard.path)

      expect(code).toMatch(
        new RegExp(`^(export )?(const|(async )?function) ${guard.declaration}\\b`, 'm'),
      )
    },
  )

  const TWINS = MODELS.flatMap((model) =>
    model.guards.map((guard) => ({ model, guard, name: guard.name })),
  )
  it.each(TWINS)(
    'without $name the twin differs in one switch, and TLC checks one property of it',
    ({ model, guard }) => {
      const twin = withoutGuard(model, guard)

      expect(switchesOf(model.config).difference(switchesOf(twin.config))).toStrictEqual(
        new Set([guard.name]),
      )
      expect([...twin.invariants, ...twin.properties]).toStrictEqual([guard.breaks])
    },
  )
})
