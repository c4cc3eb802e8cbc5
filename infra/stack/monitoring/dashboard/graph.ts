import { METRIC_NAMESPACE, METRICS, type MetricName } from '../../../../shared/metrics.ts'
import { type Measure, type Statistic, serviceOf } from '../alarms/metric-ref.ts'

export type Line =
  | { readonly label: string; readonly measure: Measure }
  /** Our metrics of one name: one line for each set of dimension values that CloudWatch finds. */
  | { readonly searchOver: (periodMinutes: number) => string }

/** One graph. It shows its unit, so that a reader does not guess. */
export type Graph = {
  readonly title: string
  readonly unit: string
  readonly lines: readonly Line[]
  /** Bars that add up, for counts by kind; lines otherwise. */
  readonly stacked?: boolean
  readonly periodMinutes?: number
  /** The threshold of its alarm. */
  readonly threshold?: number
}

export function graph(
  title: string,
  unit: string,
  lines: readonly Line[],
  options: Pick<Graph, 'stacked' | 'periodMinutes'> = {},
): Graph {
  return { title, unit, lines, ...options }
}

export type DashboardRow = { readonly heading: string; readonly graphs: readonly Graph[] }

type SetOf<Name extends MetricName> = (typeof METRICS)[Name]['dimensionSets'][number]

/**
 * Every metric of a name in one of its dimension sets, such as method and channel. `where` narrows it. The dimensions
 * are in the catalogue's order, because a search finds one exact set.
 */
export function search<const Name extends MetricName, const Set extends SetOf<Name>>(
  stage: string,
  name: Name,
  dimensionSet: Set,
  where: { readonly [name in Set[number]]?: string },
  statistic: Statistic,
): Line {
  const values = Object.entries({ service: serviceOf(stage), ...where }).map(
    ([key, value]) => `${key}="${value}"`,
  )
  const schema = [METRIC_NAMESPACE, 'service', ...dimensionSet].join(',')
  const found = `'{${schema}} MetricName="${name}" ${values.join(' ')}', '${statistic}'`
  return { searchOver: (periodMinutes) => `SEARCH(${found}, ${periodMinutes * 60})` }
}

export function line(label: string, measure: Measure): Line {
  return { label, measure }
}

/** Names in a formula are shared by the whole graph, so each line's names get its number. */
export function numbered(measure: Measure, at: number): Measure {
  return 'formula' in measure
    ? {
        formula: Object.keys(measure.of).reduce(
          (formula, id) => formula.replaceAll(new RegExp(`\\b${id}\\b`, 'g'), `${id}_${at}`),
          measure.formula,
        ),
        of: Object.fromEntries(
          Object.entries(measure.of).map(([id, metric]) => [`${id}_${at}`, metric]),
        ),
      }
    : measure
}
