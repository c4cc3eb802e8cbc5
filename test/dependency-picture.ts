import type { SourceFile } from './support/source-file.ts'

/** Folders, and those they import from, in the order of their names. */
type Graph = ReadonlyMap<string, readonly string[]>

/** `shared/payment/fee/x.ts` is of `shared/payment`, `shared/money.ts` of `shared`. */
const folderOf = (path: string) => path.split('/').slice(0, -1).slice(0, 2).join('/')

/** Who imports from whom. What imports only types loads nothing, and is told apart. */
const importsOf = (sources: readonly SourceFile[], kind: 'values' | 'types'): Graph => {
  const folders = [...new Set(sources.map(({ path }) => folderOf(path)))].toSorted()
  const usedBy = (folder: string, typeOnly: boolean) =>
    sources
      .filter(({ path }) => folderOf(path) === folder)
      .flatMap(({ imports }) => imports)
      .flatMap((used) => (used.path?.endsWith('.ts') && used.typeOnly === typeOnly ? [folderOf(used.path)] : []))
  return new Map(
    folders.map((folder) => {
      const values = usedBy(folder, false)
      const used = kind === 'values' ? values : usedBy(folder, true).filter((other) => !values.includes(other))
      return [folder, [...new Set(used)].filter((other) => other !== folder).toSorted()]
    }),
  )
}

const reachable = (graph: Graph, from: string): ReadonlySet<string> => {
  const found = new Set<string>()
  const open = [from]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    for (const other of graph.get(next) ?? []) {
      if (found.has(other)) continue
      found.add(other)
      open.push(other)
    }
  }
  return found
}

/** Folders that reach each other are one; an arrow that a longer way says too is left out. */
const drawn = (graph: Graph) => {
  const reach = new Map([...graph.keys()].map((folder) => [folder, reachable(graph, folder)]))
  const reaches = (from: string, to: string) => reach.get(from)?.has(to) === true
  const knots = new Map(
    [...graph.keys()].map((folder) => [
      folder,
      [...graph.keys()].filter((other) => other === folder || (reaches(folder, other) && reaches(other, folder))),
    ]),
  )
  const firsts = [...graph.keys()].filter((folder) => knots.get(folder)?.[0] === folder)
  const arrows = firsts.flatMap((from) => {
    const below = firsts.filter((to) => to !== from && reaches(from, to))
    return below
      .filter((to) => !below.some((between) => between !== to && reaches(between, to)))
      .map((to) => [from, to])
  })
  return { firsts, knots, arrows }
}

const idOf = (folder: string) => folder.replaceAll(/\W/g, '_')
const topOf = (folder: string) => folder.split('/')[0] ?? folder
const nameOf = (folder: string) => folder.split('/')[1] ?? `${folder}/*.ts`

/** The picture as mermaid, users above what they use. */
const mermaidOf = (graph: Graph): string => {
  const { firsts, knots, arrows } = drawn(graph)
  const boxes = [...new Set(firsts.map(topOf))].flatMap((top) => [
    `  subgraph ${top}_[${top}]`,
    ...firsts
      .filter((folder) => topOf(folder) === top)
      .map((folder) => `    ${idOf(folder)}["${(knots.get(folder) ?? []).map(nameOf).join(', ')}"]`),
    '  end',
  ])
  return ['flowchart TD', ...boxes, ...arrows.map(([from = '', to = '']) => `  ${idOf(from)} --> ${idOf(to)}`)].join(
    '\n',
  )
}

const tableOf = (values: Graph, types: Graph) =>
  [
    '| Folder | Imports from | Only types from |',
    '|---|---|---|',
    ...[...values].map(
      ([folder, used]) => `| ${folder} | ${used.join(', ')} | ${(types.get(folder) ?? []).join(', ')} |`,
    ),
  ].join('\n')

/** What docs/dependencies.md shows of the code as it is. */
export const dependencyPicture = (sources: readonly SourceFile[]): string => {
  const values = importsOf(sources, 'values')
  return `\`\`\`mermaid\n${mermaidOf(values)}\n\`\`\`\n\n${tableOf(values, importsOf(sources, 'types'))}`
}
