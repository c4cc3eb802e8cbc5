import type { SourceFile } from './support/source-file.ts'

type Graph = ReadonlyMap<string, readonly string[]>

export function dependencyPicture(sources: readonly SourceFile[]) {
  const values = importsOf(sources, 'values')
  return `\`\`\`mermaid\n${mermaidOf(values)}\n\`\`\`\n\n${tableOf(values, importsOf(sources, 'types'))}`
}

/** Imports of types alone are separate, because they load no code. */
function importsOf(
  sources: readonly SourceFile[],
  kind: 'values' | 'types',
  folderOf = topFolderOf,
) {
  const folders = [...new Set(sources.map(({ path }) => folderOf(path)))].toSorted()
  const usedBy = (folder: string, typeOnly: boolean) =>
    sources
      .filter(({ path }) => folderOf(path) === folder)
      .flatMap(({ imports }) => imports)
      .flatMap((used) =>
        used.path?.endsWith('.ts') && used.typeOnly === typeOnly ? [folderOf(used.path)] : [],
      )
  return new Map(
    folders.map((folder) => {
      const values = usedBy(folder, false)
      const used =
        kind === 'values' ? values : usedBy(folder, true).filter((other) => !values.includes(other))
      return [folder, [...new Set(used)].filter((other) => other !== folder).toSorted()]
    }),
  )
}

/** `shared/payment/fee/x.ts` is in `shared/payment`, `shared/money.ts` in `shared`. */
function topFolderOf(path: string) {
  return path.split('/').slice(0, -1).slice(0, 2).join('/')
}

/** Leaves out arrows that longer paths replace. Throws if folders use each other in a circle. */
function mermaidOf(graph: Graph) {
  const folders = [...graph.keys()]
  const reach = new Map(folders.map((folder) => [folder, reachable(graph, folder)]))
  const reaches = (from: string, to: string) => reach.get(from)?.has(to) === true
  const inCircle = foldersInCircle(graph)
  if (inCircle.length > 0) throw new Error(`in a circle: ${inCircle.join(', ')}`)
  const boxes = [...new Set(folders.map(topOf))].flatMap((top) => [
    `  subgraph ${top}_[${top}]`,
    ...folders
      .filter((folder) => topOf(folder) === top)
      .map((folder) => `    ${idOf(folder)}["${nameOf(folder)}"]`),
    '  end',
  ])
  const lines = folders.flatMap((from) => {
    const below = folders.filter((to) => reaches(from, to))
    const next = below.filter((to) => !below.some((between) => reaches(between, to)))
    return next.map((to) => `  ${idOf(from)} --> ${idOf(to)}`)
  })
  return ['flowchart TD', ...boxes, ...lines].join('\n')
}

function foldersInCircle(graph: Graph) {
  return [...graph.keys()].filter((folder) => reachable(graph, folder).has(folder))
}

/** `infra/local/main.ts` is a room, and so is the folder `infra/local/console`. */
export function roomsInCircle(sources: readonly SourceFile[]) {
  return foldersInCircle(
    importsOf(sources, 'values', (path) => path.split('/').slice(0, 3).join('/')),
  )
}

function reachable(graph: Graph, from: string) {
  const found = new Set(graph.get(from))
  // The loop also visits folders that it adds to the set.
  for (const folder of found) for (const next of graph.get(folder) ?? []) found.add(next)
  return found
}

function topOf(folder: string) {
  return folder.split('/')[0] ?? folder
}

function idOf(folder: string) {
  return folder.replaceAll(/\W/g, '_')
}

function nameOf(folder: string) {
  return folder.split('/')[1] ?? `${folder}/*.ts`
}

function tableOf(values: Graph, types: Graph) {
  return [
    '| Folder | Imports from | Only types from |',
    '|---|---|---|',
    ...[...values].map(
      ([folder, used]) =>
        `| ${folder} | ${used.join(', ')} | ${(types.get(folder) ?? []).join(', ')} |`,
    ),
  ].join('\n')
}
