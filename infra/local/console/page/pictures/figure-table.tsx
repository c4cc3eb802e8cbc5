import { useState } from 'preact/hooks'

/** Below this width of page.css a picture has no labels, so its table is open. */
const NO_LABELS = '(max-width: 860px)'

type FigureTableProps = {
  readonly caption: string
  readonly heads: readonly string[]
  /** The first cell of each row names it. */
  readonly rows: readonly (readonly string[])[]
}

/** The figures of a picture as a table, for keyboard, screen reader and small screens. */
export function FigureTable({
  isOpen = false,
  ...table
}: FigureTableProps & { readonly isOpen?: boolean }) {
  const [hasNoLabels] = useState(() => matchMedia(NO_LABELS).matches)
  return (
    <details open={isOpen || hasNoLabels}>
      <summary>As a table</summary>
      <Table {...table} />
    </details>
  )
}

export function Table({ caption, heads, rows }: FigureTableProps) {
  return (
    <div class="table" tabIndex={0} role="region" aria-label={`${caption}, table`}>
      <table>
        <caption>{caption}</caption>
        <thead>
          <tr>
            {heads.map((head) => (
              <th key={head} scope="col">
                {head}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(([name, ...cells]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {cells.map((cell, column) => (
                <td key={heads[column + 1]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
