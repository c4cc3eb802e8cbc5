import type { ESTree } from 'vite'

export type Break = {
  readonly operator: string
  readonly start: number
  readonly end: number
  readonly by: string
}

export function codeIn(path: string, text: string) {
  const codeOf = ({ start, end }: ESTree.Node) => text.slice(start, end)
  const by = (operator: string, { start, end }: ESTree.Node, code: string) => ({
    operator,
    start,
    end,
    by: code,
  })
  const without = (
    operator: string,
    list: readonly (ESTree.Node | null)[],
    node: ESTree.Node,
  ): Break => {
    const at = list.indexOf(node)
    const [before, after] = [list[at - 1], list[at + 1]]
    if (after) return { operator, start: node.start, end: after.start, by: '' }
    const comma = /^\s*,/.exec(text.slice(node.end))?.[0].length ?? 0
    return {
      operator,
      start: before?.end ?? node.start,
      end: node.end + (before ? 0 : comma),
      by: '',
    }
  }
  return { path, text, codeOf, by, without }
}

export type Code = ReturnType<typeof codeIn>
export function nameOf(node: ESTree.Node | null | undefined) {
  if (node?.type === 'MemberExpression') return nameOf(node.property)
  return node?.type === 'Identifier' ? node.name : ''
}
