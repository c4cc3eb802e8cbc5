/**
 * The places of a Sankey diagram whose money goes from left to right, through stations on one line.
 * At each station a part of it may end; the rest goes on to the next station.
 */
export type Station = {
  readonly name: string
  readonly minor: number
  /** From top to bottom. Each end has a place above the line. */
  readonly ends: readonly End[]
}

export type End = {
  readonly name: string
  readonly minor: number
  readonly tone: 'cost' | 'own' | 'bank'
}

export type Bar = {
  readonly name: string
  readonly minor: number
  readonly tone: End['tone'] | 'station'
  readonly x: number
  readonly y: number
  readonly height: number
}

type Ribbon = { readonly tone: Bar['tone']; readonly path: string }

export const SIZE = { width: 860, barWidth: 12 }

/** The height of all money. Bars have at least a pixel and a half, so that one sees them. */
const MONEY_HEIGHT = 150
const LEAST_HEIGHT = 1.5
/** Two lines of text need this height. */
const SLOT = 42
/** The room right of the last bar for its label. */
const LABEL_WIDTH = 150

export function sankeyOf(stations: readonly Station[]) {
  const [{ minor: all } = { minor: 0 }] = stations
  const heightOf = (minor: number) =>
    all <= 0 ? 0 : Math.max(LEAST_HEIGHT, (minor / all) * MONEY_HEIGHT)
  const lastHasEnds = (stations.at(-1)?.ends.length ?? 0) > 0
  const steps = Math.max(1, stations.length - (lastHasEnds ? 0 : 1))
  const columnWidth = (SIZE.width - LABEL_WIDTH - SIZE.barWidth) / steps
  const heights = stations.map(
    ({ ends }, index) => heightOf(stations[index + 1]?.minor ?? 0) + roomOf(ends, heightOf),
  )
  const bottom = Math.max(MONEY_HEIGHT, ...heights)
  const bars: Bar[] = []
  const ribbons: Ribbon[] = []
  stations.forEach((station, index) => {
    const x = index * columnWidth
    const height = heightOf(station.minor)
    const from = { x: x + SIZE.barWidth, y: bottom - height }
    bars.push({ ...station, tone: 'station', x, y: from.y, height })
    const nextX = x + columnWidth
    let { y } = from
    let slot = bottom - heightOf(stations[index + 1]?.minor ?? 0)
    // The lowest end is next to the line, so that no two ribbons cross.
    const placed = station.ends.toReversed().map((end) => {
      slot -= Math.max(SLOT, heightOf(end.minor) + 14)
      return { ...end, x: nextX, y: slot, height: heightOf(end.minor) }
    })
    for (const end of placed.toReversed()) {
      bars.push(end)
      ribbons.push({ tone: end.tone, path: ribbon(from.x, y, end) })
      y += end.height
    }
    const next = stations[index + 1]
    if (next) {
      const nextHeight = heightOf(next.minor)
      const target = { x: nextX, y: bottom - nextHeight, height: nextHeight }
      ribbons.push({ tone: 'station', path: ribbon(from.x, bottom - nextHeight, target) })
    }
  })
  return { bars, ribbons, height: bottom + 4 }
}

function roomOf(ends: readonly End[], heightOf: (minor: number) => number) {
  return ends.reduce((sum, { minor }) => sum + Math.max(SLOT, heightOf(minor) + 14), 0)
}

/** A band of one height from a bar's right side to the left side of the next bar. */
function ribbon(x: number, y: number, to: Pick<Bar, 'x' | 'y' | 'height'>) {
  const middle = (x + to.x) / 2
  return (
    `M${x} ${y}C${middle} ${y} ${middle} ${to.y} ${to.x} ${to.y}` +
    `V${to.y + to.height}` +
    `C${middle} ${to.y + to.height} ${middle} ${y + to.height} ${x} ${y + to.height}Z`
  )
}
