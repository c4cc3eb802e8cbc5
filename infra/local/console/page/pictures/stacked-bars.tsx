import { FigureTable } from './figure-table.tsx'

export type Column = { readonly name: string; readonly values: ReadonlyMap<string, number> }

type StackedBarsProps = {
  /** In their order in time. */
  readonly columns: readonly Column[]
  /** From the bottom of each column to its top. */
  readonly series: readonly { readonly name: string; readonly tone: string }[]
  readonly show: (value: number) => string
  /** For screen readers, and as the caption of the table. */
  readonly caption: string
  readonly head: string
  readonly height: number
}

const [WIDTH, GAP] = [600, 4]

export function StackedBars({ columns, series, show, caption, head, height }: StackedBarsProps) {
  const totals = series.map(({ name }) =>
    columns.reduce((sum, { values }) => sum + (values.get(name) ?? 0), 0),
  )
  const most = Math.max(...columns.map(({ values }) => sumOf(values)))
  const sentence = series.map(({ name }, index) => `${name} ${show(totals[index] ?? 0)}`)
  return (
    <>
      <svg
        class="bars"
        role="img"
        aria-label={`${caption}: ${sentence.join(', ')}`}
        viewBox={`0 0 ${WIDTH} ${height}`}
      >
        {columns.map((column, index) => (
          <Stack
            key={column.name}
            column={column}
            series={series}
            show={show}
            place={{ x: (index * WIDTH) / columns.length, width: WIDTH / columns.length }}
            scale={{ most, height }}
          />
        ))}
      </svg>
      <p class="axis">
        <span>{columns[0]?.name}</span>
        <span>highest: {show(most)}</span>
        <span>{columns.at(-1)?.name}</span>
      </p>
      <ul class="legend">
        {series.map(({ name, tone }, index) => (
          <li key={name}>
            <svg viewBox="0 0 10 10" aria-hidden="true">
              <rect class={tone} width="10" height="10" />
            </svg>
            {name} <strong>{show(totals[index] ?? 0)}</strong>
          </li>
        ))}
      </ul>
      <FigureTable
        caption={caption}
        heads={[head, ...series.map(({ name }) => name)]}
        rows={columns
          .filter(({ values }) => sumOf(values) > 0)
          .map(({ name, values }) => [
            name,
            ...series.map((one) => show(values.get(one.name) ?? 0)),
          ])}
      />
    </>
  )
}

type StackProps = Pick<StackedBarsProps, 'series' | 'show'> & {
  readonly column: Column
  readonly place: { readonly x: number; readonly width: number }
  readonly scale: { readonly most: number; readonly height: number }
}

function Stack({ column, series, show, place, scale }: StackProps) {
  let y = scale.height
  return (
    <>
      {series.map(({ name, tone }) => {
        const value = column.values.get(name) ?? 0
        if (value === 0) return null
        const height = (value / scale.most) * scale.height
        y -= height
        return (
          <rect
            key={name}
            class={tone}
            x={place.x + GAP / 2}
            y={y}
            width={place.width - GAP}
            height={height}
          >
            <title>{`${column.name}: ${name} ${show(value)}`}</title>
          </rect>
        )
      })}
    </>
  )
}

export function summed<T>(
  items: readonly T[],
  keyOf: (item: T) => string,
  valueOf: (item: T) => number,
) {
  const sums = new Map<string, number>()
  for (const item of items) sums.set(keyOf(item), (sums.get(keyOf(item)) ?? 0) + valueOf(item))
  return sums
}

function sumOf(values: ReadonlyMap<string, number>) {
  return [...values.values()].reduce((sum, value) => sum + value, 0)
}
