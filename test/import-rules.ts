import { dirname } from 'node:path/posix'
import { projectText, type SourceFile } from './support/source-file.ts'

export type Rule = (file: SourceFile) => readonly string[]

/** The layers, lowest first: a file imports only from its own layer and those below. */
export const LAYERS = ['shared', 'functions', 'infra', 'test']

export const layerOf = (path: string) => LAYERS.indexOf(path.split('/')[0] ?? '')
export const isCode = ({ path }: Pick<SourceFile, 'path'>) => layerOf(path) < LAYERS.indexOf('test')

/** Merchants copy the examples, so these import none of our code, and only tests import them. */
const isExample = (path: string) => path.startsWith('docs/examples/')

const importsToward: Rule = ({ path, imports }) =>
  imports.flatMap((used) => {
    if (used.path === undefined) return []
    if (isExample(used.path) && (isExample(path) || path.startsWith('test/'))) return []
    const isSetting = path.startsWith('test/') && /^[^/]+\.json$/.test(used.path)
    const allowed = isSetting || (layerOf(used.path) >= 0 && layerOf(used.path) <= layerOf(path))
    return allowed ? [] : [`imports ${used.from}`]
  })

/** The folders of shared in the order of its README. */
export const SHARED_FOLDERS: readonly string[] = [
  ...projectText('shared/README.md').matchAll(/^\| `([a-z/-]+)\/` \|/gm),
].map(([, folder]) => `shared/${folder}`)

/** The two ports that are in folders. */
const PORTS_IN_FOLDERS = ['shared/table/table.ts', 'shared/provider/provider.ts']

const foldersKeepTheirOrder: Rule = ({ path, imports }) => {
  const order = ['shared', ...SHARED_FOLDERS]
  const place = order.indexOf(dirname(path))
  return imports.flatMap((used) => {
    if (!path.startsWith('shared/') || !used.path?.startsWith('shared/')) return []
    if (path === 'shared/deps.ts' && PORTS_IN_FOLDERS.includes(used.path)) return []
    const usedPlace = order.indexOf(dirname(used.path))
    return usedPlace >= 0 && usedPlace <= place ? [] : [`imports ${used.from}`]
  })
}

/** The simulation's folders in order. A file imports only from its own folder and those before. */
const SIMULATION_FOLDERS = [
  'world',
  'sometimes',
  'watching',
  'scenes',
  'promises',
  'histories',
  'crashes',
  'conformance',
  '',
]

const SIMULATION = /^test\/simulation\/(?:([a-z-]+)\/)?[^/]+$/

/** -1 outside the simulation, and in an unknown folder. */
const simulationPlace = (path: string): number => {
  const [match, folder = ''] = SIMULATION.exec(path) ?? []
  return match === undefined ? -1 : SIMULATION_FOLDERS.indexOf(folder)
}

const simulationKeepsItsOrder: Rule = ({ path, imports }) =>
  path.startsWith('test/simulation/')
    ? [
        ...(simulationPlace(path) < 0 ? ['is in a folder that SIMULATION_FOLDERS lacks'] : []),
        ...imports.flatMap((used) =>
          simulationPlace(used.path ?? '') > simulationPlace(path) ? [`imports ${used.from}`] : [],
        ),
      ]
    : []

const VENDORS: readonly { readonly packages: RegExp; readonly files: RegExp }[] = [
  { packages: /^(@aws-sdk\/(?!\w+-dynamodb$)|@smithy\/)/, files: /^shared\/runtime\// },
  { packages: /^@aws-sdk\/\w+-dynamodb$/, files: /^shared\/runtime\/aws\/dynamodb-[a-z]+\.ts$/ },
  { packages: /^(@middy\/|aws-lambda$)/, files: /^shared\/runtime\// },
]

const vendorsStayOutside: Rule = (file) =>
  layerOf(file.path) > LAYERS.indexOf('functions')
    ? []
    : VENDORS.flatMap(({ packages, files }) =>
        files.test(file.path)
          ? []
          : file.imports.filter(({ from }) => packages.test(from)).map(({ from }) => `imports ${from}`),
      )

/** Alarms and dashboard are plain data. Two constructs beside them translate it for CloudWatch. */
const PLAIN_DATA = /^infra\/stack\/monitoring\/(alarms|dashboard)\//

const cdkStaysInTheStack: Rule = ({ path, imports }) =>
  path === 'infra/app.ts' || (path.startsWith('infra/stack/') && !PLAIN_DATA.test(path)) || path.startsWith('test/')
    ? []
    : imports.filter(({ from }) => /^(aws-cdk-lib|constructs)(\/|$)/.test(from)).map(({ from }) => `imports ${from}`)

/** The wings of infra in order. A file imports only from its own wing and those before. */
export const WINGS = ['stack', 'local', 'operate']

/** -1 outside infra's wings. */
export const wingOf = (path: string) => {
  const [top, folder = ''] = path.split('/')
  if (path === 'infra/app.ts') return WINGS.indexOf('stack')
  return top === 'infra' ? WINGS.indexOf(folder) : -1
}

const wingsKeepTheirOrder: Rule = ({ path, imports }) =>
  wingOf(path) < 0
    ? []
    : imports.flatMap((used) => (wingOf(used.path ?? '') > wingOf(path) ? [`imports ${used.from}`] : []))

const MAKERS = ['shared/table/step.ts']

const storesMakeSteps: Rule = (file) => {
  const { path, imports } = file
  const isOther = isCode(file) && !path.endsWith('-store.ts') && !/^shared\/(table|runtime)\//.test(path)
  if (!isOther) return []
  return imports.flatMap((used) => (!used.typeOnly && MAKERS.includes(used.path ?? '') ? [`imports ${used.from}`] : []))
}

const ADAPTER = /^shared\/provider\/[a-z-]+\//

/** Code for every provider: all of shared except the adapters and the runtime, which chooses one. */
export const isOfAnyProvider = (path: string): boolean =>
  path.startsWith('shared/') && !path.startsWith('shared/runtime/') && !ADAPTER.test(path)

/** Where a provider is chosen, and where its callbacks arrive. */
const CHOOSES_PROVIDER = /^(shared\/runtime\/chosen-provider\.ts$|functions\/callback\/)/

const oneFileChoosesTheProvider: Rule = ({ path, imports }) =>
  layerOf(path) >= 0 && isCode({ path }) && !ADAPTER.test(path) && !CHOOSES_PROVIDER.test(path)
    ? imports.flatMap((used) => (ADAPTER.test(used.path ?? '') ? [`imports ${used.from}`] : []))
    : []

export const IMPORT_RULES = {
  'imports point only from test to infra to functions to shared': importsToward,
  'a folder of shared imports only from those before it': foldersKeepTheirOrder,
  'a folder of the simulation imports only from those before it': simulationKeepsItsOrder,
  'vendor packages stay in the runtime': vendorsStayOutside,
  'only the stack knows CDK': cdkStaysInTheStack,
  'operate may use local and stack, local the stack, and the stack neither': wingsKeepTheirOrder,
  'steps and conditions are made in stores': storesMakeSteps,
  'only its choice and its callbacks name a provider': oneFileChoosesTheProvider,
}
