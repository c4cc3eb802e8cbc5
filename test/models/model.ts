import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const FOLDER = import.meta.dirname

/** A condition of the code that a model can do without. */
export type Guard = {
  readonly name: string
  /** What is broken without it. */
  readonly breaks: string
  /** Where the code has it. */
  readonly declaration: string
  readonly path: string
}

/** One protocol on paper with the sizes that it is explored with. */
export type Model = {
  readonly name: string
  readonly module: string
  readonly spec: string
  readonly config: string
  readonly invariants: readonly string[]
  readonly properties: readonly string[]
  readonly guards: readonly Guard[]
}

const GUARD = /^ {2}(?<name>\w+),? *\\\* (?<declaration>\w+) in (?<path>\S+), or (?<breaks>\w+) breaks$/gm

const guardsOf = (spec: string): readonly Guard[] =>
  [...spec.matchAll(GUARD)].map(({ groups: { name = '', breaks = '', declaration = '', path = '' } = {} }) => ({
    name,
    breaks,
    declaration,
    path,
  }))

/** The names below a heading of a configuration. */
const namesOf = (config: string, heading: string): readonly string[] =>
  [...(config.match(new RegExp(`^${heading}\\n((?: {2}\\w+\\n)+)`, 'm'))?.[1] ?? '').matchAll(/\w+/g)].map(String)

const readModel = (file: string): Model => {
  const name = file.replace('.cfg', '')
  const module = name.replace(/-.*/, '')
  const spec = readFileSync(join(FOLDER, `${module}.tla`), 'utf8')
  const config = readFileSync(join(FOLDER, file), 'utf8')
  const properties = namesOf(config, 'PROPERTIES')
  const invariants = namesOf(config, 'INVARIANTS')
  const guards = guardsOf(spec).filter(({ breaks }) => [...invariants, ...properties].includes(breaks))
  return { name, module, spec, config, invariants, properties, guards }
}

/** Every configuration, with the guards whose absence it can notice. */
export const MODELS: readonly Model[] = readdirSync(FOLDER)
  .filter((file) => file.endsWith('.cfg'))
  .map(readModel)

/** The same model without one of its guards, and asked for nothing but what that guard is there for. */
export const withoutGuard = (model: Model, { name, breaks }: Guard): Model => {
  const isInvariant = model.invariants.includes(breaks)
  const config = model.config
    .replace(new RegExp(`^( {2}${name} =) TRUE$`, 'm'), '$1 FALSE')
    .replace(/^(INVARIANTS|PROPERTIES)\n(?: {2}\w+\n)+/gm, '')
  return {
    ...model,
    config: `${config}${isInvariant ? 'INVARIANT' : 'PROPERTY'} ${breaks}\n`,
    invariants: isInvariant ? [breaks] : [],
    properties: isInvariant ? [] : [breaks],
  }
}
