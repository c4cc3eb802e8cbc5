import { dirname } from 'node:path/posix'
import { projectText, type SourceFile } from './support/source-file.ts'

export type Rule = (file: SourceFile) => readonly string[]

/** A file imports only from its own layer and lower layers. */
export const LAYERS = ['shared', 'functions', 'infra', 'test']

export function layerOf(path: string) {
  return LAYERS.indexOf(path.split('/')[0] ?? '')
}

export function isCode({ path }: Pick<SourceFile, 'path'>) {
  return layerOf(path) < LAYERS.indexOf('test')
}

/**
 * The place among the folders of infra: a file imports only from its own folder and earlier
 * folders. -1 outside.
 */
export function infraPlace(path: string) {
  const [top, folder = ''] = path.split('/')
  if (path === 'infra/app.ts') return 0
  return top === 'infra' ? ['stack', 'local', 'operate'].indexOf(folder) : -1
}

const ADAPTER = /^shared\/provider\/[a-z-]+\//

/**
 * Code for every provider: all of shared except the adapters and the runtime, which chooses one.
 */
export function isOfAnyProvider(path: string) {
  return path.startsWith('shared/') && !path.startsWith('shared/runtime/') && !ADAPTER.test(path)
}

function importsToward(file: SourceFile) {
  return importing(file, ({ path: used }) => {
    if (used === undefined) return false
    const isTest = file.path.startsWith('test/')
    if (isExample(used) && (isExample(file.path) || isTest)) return false
    const isSetting = isTest && /^[^/]+\.json$/.test(used)
    return !isSetting && (layerOf(used) < 0 || layerOf(used) > layerOf(file.path))
  })
}

function importing(
  { imports }: SourceFile,
  isRefused: (used: SourceFile['imports'][number]) => boolean,
) {
  return imports.filter(isRefused).map(({ from }) => `imports ${from}`)
}

/** Merchants copy the examples, so these import none of our code, and only tests import them. */
function isExample(path: string) {
  return path.startsWith('docs/examples/')
}

export const SHARED_FOLDERS: readonly string[] = [
  ...projectText('shared/README.md').matchAll(/^\| `([a-z/-]+)\/` \|/gm),
].map(([, folder]) => `shared/${folder}`)

function foldersKeepTheirOrder(file: SourceFile) {
  const order = ['shared', ...SHARED_FOLDERS]
  const place = order.indexOf(dirname(file.path))
  return importing(file, ({ path: used }) => {
    if (!file.path.startsWith('shared/') || !used?.startsWith('shared/')) return false
    // These two ports are in folders.
    if (
      file.path === 'shared/deps.ts' &&
      /^shared\/(table\/table|provider\/provider)\.ts$/.test(used)
    )
      return false
    const usedPlace = order.indexOf(dirname(used))
    return usedPlace < 0 || usedPlace > place
  })
}

function simulationKeepsItsOrder(file: SourceFile) {
  const isLost = file.path.startsWith('test/simulation/') && simulationPlace(file.path) < 0
  return isLost ? ['is in a folder that SIMULATION_FOLDERS lacks'] : inOrder(simulationPlace)(file)
}

/**
 * The simulation's folders in order. A file imports only from its own folder and earlier folders.
 */
const SIMULATION_FOLDERS =
  'world sometimes watching scenes promises histories crashes conformance traitor'.split(' ')

/** -1 outside the simulation, and in an unknown folder. */
function simulationPlace(path: string) {
  const [match, folder = ''] = /^test\/simulation\/(?:([a-z-]+)\/)?[^/]+$/.exec(path) ?? []
  return match === undefined ? -1 : [...SIMULATION_FOLDERS, ''].indexOf(folder)
}

function inOrder(placeOf: (path: string) => number): Rule {
  return (file) =>
    placeOf(file.path) < 0
      ? []
      : importing(file, ({ path = '' }) => placeOf(path) > placeOf(file.path))
}

const VENDORS = [
  { packages: /^(@aws-sdk\/(?!\w+-dynamodb$)|@smithy\/)/, files: /^shared\/runtime\// },
  { packages: /^@aws-sdk\/\w+-dynamodb$/, files: /^shared\/runtime\/aws\/dynamodb-[a-z]+\.ts$/ },
  { packages: /^(@middy\/|aws-lambda$)/, files: /^shared\/runtime\// },
]

function vendorsStayInRuntime(file: SourceFile) {
  return layerOf(file.path) > LAYERS.indexOf('functions')
    ? []
    : VENDORS.filter(({ files }) => !files.test(file.path)).flatMap(({ packages }) =>
        importing(file, ({ from }) => packages.test(from)),
      )
}

/** Alarms and dashboard are plain data. Two constructs beside them translate it for CloudWatch. */
function cdkStaysInTheStack(file: SourceFile) {
  return /^infra\/(app\.ts$|stack\/(?!monitoring\/(alarms|dashboard)\/))/.test(file.path) ||
    !isCode(file)
    ? []
    : importing(file, ({ from }) => /^(aws-cdk-lib|constructs)(\/|$)/.test(from))
}

function storesMakeSteps(file: SourceFile) {
  const isOther =
    isCode(file) &&
    !file.path.endsWith('-store.ts') &&
    !/^shared\/(table|runtime)\//.test(file.path)
  return isOther
    ? importing(file, ({ path, typeOnly }) => !typeOnly && path === 'shared/table/step.ts')
    : []
}

/** Where a provider is chosen, and where its callbacks arrive. */
function oneFileChoosesTheProvider(file: SourceFile) {
  const chooses = /^(shared\/runtime\/chosen-provider\.ts$|functions\/callback\/)/.test(file.path)
  return layerOf(file.path) >= 0 && isCode(file) && !ADAPTER.test(file.path) && !chooses
    ? importing(file, ({ path = '' }) => ADAPTER.test(path))
    : []
}

export const IMPORT_RULES = {
  'imports point only from test to infra to functions to shared': importsToward,
  'a folder of shared imports only from itself and earlier folders': foldersKeepTheirOrder,
  'a folder of the simulation imports only from itself and earlier folders':
    simulationKeepsItsOrder,
  'vendor packages stay in the runtime': vendorsStayInRuntime,
  'only infra/stack imports CDK': cdkStaysInTheStack,
  'in infra, operate imports local and stack, and local imports stack; nothing else':
    inOrder(infraPlace),
  'only stores build steps and conditions': storesMakeSteps,
  'only the chosen provider and its callbacks import an adapter': oneFileChoosesTheProvider,
}
