import type { ExecutedFile } from './executed-files.ts'

export const GROUPS = {
  own: 'own code',
  technical: '`runtime/` and `table/`',
  basic: 'directly in `shared/`',
} as const

export type Group = keyof typeof GROUPS

type Figures = { readonly files: number; readonly lines: number }

export type FlowFigures = Readonly<Record<Group, Figures>>

export function flowFigures(files: readonly ExecutedFile[]) {
  return byGroup((group) => {
    const counted = files.filter(({ path }) => groupOf(path) === group)
    return { files: counted.length, lines: counted.reduce((sum, { lines }) => sum + lines, 0) }
  })
}

export function byGroup(figuresOf: (group: Group) => Figures) {
  return { own: figuresOf('own'), technical: figuresOf('technical'), basic: figuresOf('basic') }
}

export function groupOf(path: string) {
  if (/^shared\/(runtime|table)\//.test(path)) return 'technical'
  return /^shared\/[^/]+$/.test(path) ? 'basic' : 'own'
}

const STEPS = { files: 5, lines: 50 }

export function limitsFor(figures: FlowFigures) {
  const roundedUp = (figure: number, step: number) => Math.ceil(figure / step) * step
  return byGroup((group) => ({
    files: roundedUp(figures[group].files, STEPS.files),
    lines: roundedUp(figures[group].lines, STEPS.lines),
  }))
}

/** A limit that is far above its figure limits nothing. */
export function problemsOf(name: string, figures: FlowFigures, limits: FlowFigures) {
  return (['own', 'technical', 'basic'] as const).flatMap((group) =>
    (['files', 'lines'] as const).flatMap((unit) => {
      const [figure, limit] = [figures[group][unit], limits[group][unit]]
      const about = `${name}, ${GROUPS[group]}: ${figure} ${unit}, limit ${limit}`
      if (figure > limit) return [`${about}. "npm run flows -- ${name}" lists the files`]
      return limit > figure * 1.1 + STEPS[unit]
        ? [`${about} is too high. "npm run flows" prints the new limits`]
        : []
    }),
  )
}
