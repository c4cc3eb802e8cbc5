import { METRIC_NAMESPACE, type MetricName } from '../../../../shared/metrics.ts'
import { type Measure, serviceOf } from '../alarms/metric-ref.ts'

export type Line =
  | { readonly label: string; readonly measure: Measure }
  /** A line for each set of dimension values that CloudWatch finds. */
  | { readonly searchOver: (periodMinutes: number) => string }

export type Graph = {
  readonly title: string
  readonly unit: string
  readonly lines: readonly Line[]
  /** Bars that add up, for counts by kind; lines otherwise. */
  readonly stacked?: boolean
  readonly periodMinutes?: number
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

/**
 * `where` narrows the search. The dimensions are in the catalogue's order, because a search finds
 * one exact set.
 */
export function searchLine(
  stage: string,
  name: MetricName,
  dimensionSet: readonly string[],
  where: Readonly<Record<string, string>>,
): Line {
  const values = Object.entries({ service: serviceOf(stage), ...where }).map(
    ([key, value]) => `${key}="${value}"`,
  )
  const schema = [METRIC_NAMESPACE, 'service', ...dimensionSet].join(',')
  const terms = `'{${schema}} MetricName="${name}" ${values.join(' ')}', 'Sum'`
  return { searchOver: (periodMinutes) => `SEARCH(${terms}, ${periodMinutes * 60})` }
}

export function line(label: string, measure: Measure): Line {
  return { label, measure }
}

/** Lines of a graph share the names in formulas, so each line's names get its number. */
export function numberedMeasure(measure: Measure, at: number): Measure {
  return 'formula' in measure
    ? {
        formula: Object.keys(measure.metrics).reduce(
          (formula, id) => formula.replaceAll(new RegExp(`\\b${id}\\b`, 'g'), `${id}_${at}`),
          measure.formula,
        ),
        metrics: Object.fromEntries(
          Object.entries(measure.metrics).map(([id, metric]) => [`${id}_${at}`, metric]),
        ),
      }
    : measure
}
