import { basename, dirname, extname } from 'node:path/posix'
import type { ESTree } from 'vite'
import {
  IMPORT_RULES,
  infraPlace,
  isCode,
  isOfAnyProvider,
  LAYERS,
  layerOf,
  type Rule,
} from './import-rules.ts'
import { SHAPE_RULES } from './shape-rules.ts'
import { at, type SourceFile } from './support/source-file.ts'

/** The files of the manifest are directly in functions/; handlers are in its folders. */
export function isOfManifest(path: string) {
  return /^functions\/[^/]+$/.test(path)
}

const AMBIENT_MEMBERS = [
  'Date.now',
  'Math.random',
  'process.env',
  'performance.now',
  'crypto.randomUUID',
]
const AMBIENT_NAMES = ['randomUUID', 'randomBytes', 'randomInt', 'getRandomValues']

function noAmbientValues(file: SourceFile) {
  return isDomainOrHandler(file)
    ? file.nodes.flatMap((node) => {
        const member = memberOf(node)
        if (member !== undefined && AMBIENT_MEMBERS.includes(member))
          return [at(file, node, member)]
        if (
          node.type === 'ImportSpecifier' &&
          'name' in node.imported &&
          AMBIENT_NAMES.includes(node.imported.name)
        ) {
          return [at(file, node, node.imported.name)]
        }
        const isDate =
          'callee' in node && node.callee.type === 'Identifier' && node.callee.name === 'Date'
        if (node.type === 'CallExpression' && isDate) return [at(file, node, 'Date()')]
        if (node.type !== 'NewExpression' || !isDate) return []
        return node.arguments.length > 0 && file.path === 'shared/time.ts'
          ? []
          : [at(file, node, 'new Date')]
      })
    : []
}

function isDomainOrHandler({ path }: SourceFile) {
  return (
    layerOf(path) >= 0 &&
    layerOf(path) <= LAYERS.indexOf('functions') &&
    !path.startsWith('shared/runtime/')
  )
}

function memberOf(node: ESTree.Node) {
  return node.type === 'MemberExpression' &&
    node.object.type === 'Identifier' &&
    node.property.type === 'Identifier'
    ? `${node.object.name}.${node.property.name}`
    : undefined
}

function keysAreBuiltInOnePlace(file: SourceFile) {
  return isCode(file) && file.path !== 'shared/table/keys.ts'
    ? file.nodes.flatMap((node) => {
        const text = textOf(node) ?? ''
        return /(^|[^A-Z])[A-Z]{3,}#/.test(text) ? [at(file, node, text)] : []
      })
    : []
}

function textOf(node: ESTree.Node) {
  if (node.type === 'TemplateElement') return node.value.raw
  return node.type === 'Literal' && 'raw' in node && typeof node.raw === 'string'
    ? node.raw
    : undefined
}

/**
 * Xendit's name (except fields that the specification names so), its forms of ids, its codes of
 * channels and accounts.
 */
const PROVIDERS_WORD =
  /[Xx]endit(?!_fees?_minor)|(^|[^a-z])(py|pr|txn)[-_]|_VIRTUAL_ACCOUNT|^(QRIS|CASH)$/

function domainHasNoProvidersWords(file: SourceFile) {
  return isOfAnyProvider(file.path) && file.path !== 'shared/table/upstream.ts'
    ? file.nodes.flatMap((node) => {
        const text =
          node.type === 'Literal' && typeof node.value === 'string' ? node.value : textOf(node)
        return text !== undefined && PROVIDERS_WORD.test(text) ? [at(file, node, text)] : []
      })
    : []
}

function namesAreSpecific({ path }: SourceFile) {
  return path.split('/').flatMap((part) => {
    const name = part.replace(/(\.night)?(\.test)?\.tsx?$/, '')
    if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)) return [`${part} is not kebab-case`]
    const isVague = /(^|-)(utils?|helpers?|common|types?|services?|misc|index)$/.test(name)
    return isVague ? [`${part} is too general`] : []
  })
}

/**
 * `payment.ts` may export `Payment`, `payment`, `paymentOf` or `toPayment`; `channels.ts` all of
 * these of a channel.
 */
function filesHaveTheNameOfTheirExport(file: SourceFile) {
  const values = file.exports.filter(({ isType }) => !isType)
  // Lambda and the SDK's clients require these names.
  if (
    !isCode(file) ||
    values.length !== 1 ||
    /^(handler|defaultProvider)$/.test(values[0]?.name ?? '')
  )
    return []
  const called = lettersOf(basename(file.path).replace(/\.tsx?$/, ''))
  const names = [called, `to${called}`, `${called}of`, `${called.replace(/s$/, '')}of`]
  return file.exports.some(({ name }) => names.includes(lettersOf(name)))
    ? []
    : [`exports ${values[0]?.name}`]
}

function lettersOf(name: string) {
  return name.replaceAll(/[-_]/g, '').toLowerCase()
}

/**
 * The limits of `vitest.config.ts` only end what hangs. A shorter limit fails on a slow machine.
 */
function testsHaveNoLimits(file: SourceFile) {
  return file.path.endsWith('.test.ts')
    ? file.nodes.flatMap((node) => {
        const limit = limitIn(node)
        return limit === undefined ? [] : [at(file, node, limit)]
      })
    : []
}

function limitIn(node: ESTree.Node) {
  if (node.type === 'Property' && node.key.type === 'Identifier' && isNumber(node.value)) {
    return /^(timeout|testTimeout|hookTimeout)$/.test(node.key.name) ? node.key.name : undefined
  }
  if (node.type !== 'CallExpression' || node.arguments.length < 2) return undefined
  return isNumber(node.arguments.at(-1)) && TAKES_LIMIT.test(firstNameOf(node))
    ? 'a limit'
    : undefined
}

const TAKES_LIMIT = /^(it|test|plainIt|describe\w*|(before|after)(All|Each)|onTestFinished)$/

function isNumber(node: ESTree.Node | undefined) {
  return node?.type === 'Literal' && typeof node.value === 'number'
}

/** `it` of `it.each(cases)('is', …)`. */
function firstNameOf(node: ESTree.Node) {
  if (node.type === 'CallExpression') return firstNameOf(node.callee)
  if (node.type === 'MemberExpression') return firstNameOf(node.object)
  return node.type === 'Identifier' ? node.name : ''
}

function noTodoComments({ comments }: SourceFile) {
  return comments.flatMap((comment) =>
    /\b(TODO|FIXME|XXX|HACK)\b|@ts-(ignore|nocheck)|(oxlint|eslint|biome)-(disable|ignore)/.test(
      comment,
    )
      ? [comment.trim()]
      : [],
  )
}

function infraHasThreeFolders(paths: readonly string[]) {
  return infraFiles(paths).filter(
    (path) => infraPlace(path) < 0 && !/^infra\/stages\/[^/]+\.json$/.test(path),
  )
}

/** Rules that oxlint does not have. The key is the rule in words. */
export const RULES = {
  ...IMPORT_RULES,
  ...SHAPE_RULES,
  'time, random values and environment variables come from deps': noAmbientValues,
  'only table/keys.ts contains key texts': keysAreBuiltInOnePlace,
  'the domain contains no terms of one provider': domainHasNoProvidersWords,
  'file names are kebab-case and specific': namesAreSpecific,
  'a file has the name of its export': filesHaveTheNameOfTheirExport,
  'a test has no time limit of its own': testsHaveNoLimits,
  'no TODO comment, and no disabled check': noTodoComments,
} as const satisfies Readonly<Record<string, Rule>>

export type RuleName = keyof typeof RULES

type TreeRule = (paths: readonly string[]) => readonly string[]

function infraFiles(paths: readonly string[]) {
  return paths.filter((path) => path.startsWith('infra/'))
}

function infraNamesAreUnique(paths: readonly string[]) {
  return [...Map.groupBy(infraFiles(paths), (path) => basename(path))]
    .filter(([name, homes]) => name !== 'main.ts' && new Set(homes.map(infraPlace)).size > 1)
    .flatMap(([, homes]) => homes)
}

function foldersStandAlone(paths: readonly string[]) {
  const folders = new Set(paths.flatMap((path) => withParents(dirname(path))))
  return paths.filter((path) => folders.has(path.slice(0, path.length - extname(path).length)))
}

function withParents(folder: string): string[] {
  return folder === '.' ? [] : [folder, ...withParents(dirname(folder))]
}

/** Folders in which a file is found by its name: operator actions, and what tests share. */
const LONG_FOLDERS: Readonly<Record<string, number>> = {
  'functions/admin': Infinity,
  'test/support': 45,
}

/** Test files do not count, because their names are enough. */
function foldersAreShort(paths: readonly string[]) {
  const counted = paths.filter((path) => !path.endsWith('.test.ts'))
  return [...Map.groupBy(counted, (path) => dirname(path))].flatMap(([folder, files]) => {
    const limit = LONG_FOLDERS[folder] ?? 22
    return files.length > limit ? [`${folder}: ${files.length} files, limit ${limit}`] : []
  })
}

export const TREE_RULES = {
  'infra has app.ts, stage files, and the folders stack, local and operate': infraHasThreeFolders,
  'the three folders of infra share no file name, except main.ts': infraNamesAreUnique,
  'no file has the name of a folder beside it': foldersStandAlone,
  'no folder has more than 22 files, except functions/admin and test/support': foldersAreShort,
} as const satisfies Readonly<Record<string, TreeRule>>

export type TreeRuleName = keyof typeof TREE_RULES
