export type BarPlot = {
  readonly title: string
  readonly groups: readonly { readonly name: string; readonly bars: readonly number[] }[]
  /** What the bars of each group are, in their order. */
  readonly series: readonly string[]
  /** A line across, that the bars are held against. */
  readonly mark?: { readonly at: number; readonly name: string }
}

const [WIDTH, HEIGHT] = [760, 320]
const PLOT = { left: 50, right: 740, top: 60, bottom: 280 }
const COLOURS = ['#4c78a8', '#f58518', '#54a24b', '#b279a2']
const TICKS = 4

const text = (x: number, y: number, words: string, anchor = 'middle'): string =>
  `<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" text-anchor="${anchor}">${words}</text>`

const line = (y: number, style: string): string =>
  `<line x1="${PLOT.left}" x2="${PLOT.right}" y1="${y.toFixed(1)}" y2="${y.toFixed(1)}" ${style}/>`

const shown = (value: number): string => (value >= 100 ? value.toFixed(0) : value.toFixed(2))

/** A figure as an SVG text: groups of bars from zero up, each with its value above it. */
export const barPlot = ({ title, groups, series, mark }: BarPlot): string => {
  const values = groups.flatMap(({ bars }) => bars)
  const most = Math.max(...values, mark?.at ?? 0) * 1.1 || 1
  const y = (value: number) => PLOT.bottom - (value / most) * (PLOT.bottom - PLOT.top)
  const groupWidth = (PLOT.right - PLOT.left) / groups.length
  const barWidth = (groupWidth * 0.8) / series.length
  const ticks = Array.from({ length: TICKS + 1 }, (_, at) => (most * at) / TICKS)
  const bars = groups.flatMap(({ name, bars: own }, group) => {
    const left = PLOT.left + group * groupWidth + groupWidth * 0.1
    return [
      ...own.flatMap((value, at) => {
        const [x, top] = [left + at * barWidth, y(value)]
        const size = `width="${(barWidth * 0.92).toFixed(1)}" height="${(PLOT.bottom - top).toFixed(1)}"`
        const colour = COLOURS[at % COLOURS.length] ?? 'black'
        return [
          `<rect x="${x.toFixed(1)}" y="${top.toFixed(1)}" ${size} fill="${colour}"/>`,
          text(x + barWidth / 2, top - 4, shown(value)),
        ]
      }),
      text(left + groupWidth * 0.4, PLOT.bottom + 18, name),
    ]
  })
  const legend = series.flatMap((name, at) => {
    const x = PLOT.left + at * 130
    const colour = COLOURS[at % COLOURS.length] ?? 'black'
    return [`<rect x="${x}" y="32" width="10" height="10" fill="${colour}"/>`, text(x + 15, 41, name, 'start')]
  })
  const marked =
    mark === undefined
      ? []
      : [line(y(mark.at), 'stroke="#d00" stroke-dasharray="5 4"'), text(PLOT.right, y(mark.at) - 4, mark.name, 'end')]
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="11">`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    `<text x="${PLOT.left}" y="20" font-size="14">${title}</text>`,
    ...ticks.flatMap((value) => [
      line(y(value), 'stroke="#ddd"'),
      text(PLOT.left - 6, y(value) + 4, shown(value), 'end'),
    ]),
    ...bars,
    ...marked,
    ...legend,
    '</svg>',
    '',
  ].join('\n')
}
