import { basename, dirname, extname } from 'node:path/posix'
import { WINGS, wingOf } from './import-rules.ts'

/** Says what is wrong with a tree, given the path of each file in it; nothing when it keeps the rule. */
type TreeRule = (paths: readonly string[]) => readonly string[]

const FOLDER_FILES = 22
/** What tests share is found by its name, like what operators may do: an action is a handler, and they are one list. */
const LONG_FOLDERS: Readonly<Record<string, number>> = { 'functions/admin': Infinity, 'test/support': 45 }

const inWings = (paths: readonly string[]) => paths.filter((path) => path.startsWith('infra/'))

const STAGE_FILE = /^infra\/stages\/[^/]+\.json$/

const infraHasWings: TreeRule = (paths) =>
  inWings(paths)
    .filter((path) => path !== 'infra/app.ts' && !STAGE_FILE.test(path))
    .filter((path) => !WINGS.some((wing) => path.startsWith(`infra/${wing}/`)))

const wingsShareNoName: TreeRule = (paths) =>
  [...Map.groupBy(inWings(paths), (path) => basename(path))]
    .filter(([name, homes]) => name !== 'main.ts' && new Set(homes.map(wingOf)).size > 1)
    .flatMap(([, homes]) => homes)

const withParents = (folder: string): string[] => (folder === '.' ? [] : [folder, ...withParents(dirname(folder))])

const foldersStandAlone: TreeRule = (paths) => {
  const folders = new Set(paths.flatMap((path) => withParents(dirname(path))))
  return paths.filter((path) => folders.has(path.slice(0, path.length - extname(path).length)))
}

/** Test files do not count: each says by its name which claims it holds. */
const foldersAreShort: TreeRule = (paths) =>
  [
    ...Map.groupBy(
      paths.filter((path) => !path.endsWith('.test.ts')),
      (path) => dirname(path),
    ),
  ].flatMap(([folder, files]) => {
    const limit = LONG_FOLDERS[folder] ?? FOLDER_FILES
    return files.length > limit ? [`${folder}: ${files.length} files, limit ${limit}`] : []
  })

/** What no file shows by itself. */
export const TREE_RULES = {
  'infra has app.ts, files of stages and three wings': infraHasWings,
  'no two wings have a file of one name, but for main.ts': wingsShareNoName,
  'no file stands beside a folder of its name': foldersStandAlone,
  'no folder has more files than one looks through, but for functions/admin': foldersAreShort,
} as const satisfies Readonly<Record<string, TreeRule>>

export type TreeRuleName = keyof typeof TREE_RULES
