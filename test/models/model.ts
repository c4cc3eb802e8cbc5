import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** A condition of the code that a model can switch off. */
export type Guard = {
  readonly name: string
  /** The invariant or property that breaks without the guard. */
  readonly breaks: string
  /** The declaration in the code that is this guard. */
  readonly declaration: string
  readonly path: string
}

type Sizes = Readonly<Record<string, string | number>>

type Exploration = {
  readonly sizes: Sizes
  readonly invariants?: string
  readonly properties?: string
  /** Under symmetry TLC cannot decide liveness properties. */
  readonly isAsymmetric?: true
}

const CREATE = { Callers: '{a, b}', None: 'None', Channel: '"destination"' }
const DELIVER = {
  Workers: '{a}',
  Operators: '{x}',
  None: 'None',
  Most: 2,
  MostRounds: 2,
  MostDeaths: 1,
}
const SETTLE = {
  Settlers: '{a}',
  Workers: '{v}',
  Operators: '{}',
  Payments: '{1}',
  Refunded: '{1}',
  LastTime: 2,
}
const SYNC = { Lag: 1, Skew: 1, Overlap: 2 }

/** Small enough to visit every state. The first word of a name is its module. */
const EXPLORATIONS: Readonly<Record<string, Exploration>> = {
  create: {
    sizes: CREATE,
    invariants: 'ShownIsOpen OrphansAreKnown AttemptOnce OneBody RememberedIsKept RememberedIsDue',
    properties: 'OnePayment CreditedOnce',
  },
  'create-push': { sizes: { ...CREATE, Channel: '"push"' }, invariants: 'OnePush' },
  deliver: {
    sizes: { ...DELIVER, Workers: '{a, b}' },
    invariants: 'OnePost WaitsAreKept NothingIsForgotten',
    properties: 'ResultsStand',
  },
  'deliver-ends': { sizes: DELIVER, properties: 'Ends', isAsymmetric: true },
  'deliver-rounds': {
    sizes: { ...DELIVER, Operators: '{x, y}', Most: 1, MostRounds: 3 },
    invariants: 'RoundIsBounded AlertIsDue',
  },
  settle: {
    sizes: { ...SETTLE, Settlers: '{a, b}', Payments: '{1, 2}' },
    invariants: 'SumIsItsEntries InOneSettlement',
  },
  'settle-money': { sizes: { ...SETTLE, Workers: '{v, w}' }, invariants: 'EntriesAddUp' },
  'settle-payouts': {
    sizes: { ...SETTLE, Operators: '{x, y}', LastTime: 3 },
    invariants: 'CarriedOnce MoneyAddsUp',
  },
  'settle-runs': { sizes: { ...SETTLE, Settlers: '{a, b}', LastTime: 3 }, invariants: 'RunsAddUp' },
  sync: {
    sizes: {
      ...SYNC,
      Planners: '{p, q}',
      Workers: '{a}',
      Rows: '{1}',
      MostTime: 3,
      MostRounds: 2,
      MostReadings: 0,
    },
    invariants: 'NothingIsSkipped',
    properties: 'HeadOnlyAdvances',
  },
  'sync-tail': {
    sizes: {
      ...SYNC,
      Planners: '{}',
      Workers: '{a, b}',
      Rows: '{1, 2, 3}',
      MostTime: 1,
      MostRounds: 0,
      MostReadings: 2,
    },
    invariants: 'TailIsReadAgain',
    properties: 'PositionIsKept LeaseIsKept',
  },
}

const GUARD =
  /^ {2}(?<name>\w+),? *\\\* (?<declaration>\w+) in (?<path>\S+), or (?<breaks>\w+) breaks$/gm

/** The conditions that a module has as switches. */
export function guardsOf(spec: string) {
  return [...spec.matchAll(GUARD)].map(
    ({ groups: { name = '', breaks = '', declaration = '', path = '' } = {} }) => ({
      name,
      breaks,
      declaration,
      path,
    }),
  )
}

export type Model = ReturnType<typeof modelOf>

export const MODELS: readonly Model[] = Object.entries(EXPLORATIONS).map(([name, asked]) =>
  modelOf(name, asked),
)

/** The model without one of its guards. TLC checks only what that guard protects. */
export function withoutGuard({ name, invariants }: Model, guard: Guard) {
  const { invariants: _, properties: __, ...explored } = EXPLORATIONS[name] ?? { sizes: {} }
  const asked = invariants.includes(guard.breaks)
    ? { invariants: guard.breaks }
    : { properties: guard.breaks }
  return modelOf(name, { ...explored, ...asked }, guard)
}

function modelOf(name: string, exploration: Exploration, without?: Guard) {
  const module = name.replace(/-.*/, '')
  const spec = readFileSync(join(import.meta.dirname, `${module}.tla`), 'utf8')
  const [invariants, properties] = [
    wordsOf(exploration.invariants),
    wordsOf(exploration.properties),
  ]
  const guards = guardsOf(spec).filter(({ breaks }) =>
    [...invariants, ...properties].includes(breaks),
  )
  return {
    name,
    module,
    spec,
    config: configOf(spec, exploration, without),
    invariants,
    properties,
    guards,
  }
}

function wordsOf(text = '') {
  return text.split(' ').filter((word) => word !== '')
}

/** Every switch is on, except the switch of the removed guard. */
function configOf(
  spec: string,
  { sizes, invariants, properties, isAsymmetric }: Exploration,
  without?: Guard,
) {
  return [
    'SPECIFICATION Spec',
    'CHECK_DEADLOCK FALSE',
    ...(isAsymmetric ? [] : ['SYMMETRY Symmetry']),
    'CONSTANTS',
    ...Object.entries(sizes).map(([name, value]) => `  ${name} = ${value}`),
    ...guardsOf(spec).map(({ name }) => `  ${name} = ${name === without?.name ? 'FALSE' : 'TRUE'}`),
    ...(invariants === undefined
      ? []
      : ['INVARIANTS', ...wordsOf(invariants).map((name) => `  ${name}`)]),
    ...(properties === undefined
      ? []
      : ['PROPERTIES', ...wordsOf(properties).map((name) => `  ${name}`)]),
    '',
  ].join('\n')
}
