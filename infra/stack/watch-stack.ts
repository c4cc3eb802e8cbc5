import { type App, Duration } from 'aws-cdk-lib'
import {
  AlarmStatusWidget,
  Dashboard,
  GraphWidget,
  GraphWidgetView,
  type IAlarm,
  type IMetric,
  type IWidget,
  MathExpression,
  PeriodOverride,
  TextWidget,
} from 'aws-cdk-lib/aws-cloudwatch'
import { Construct } from 'constructs'
import { chunks } from '../../shared/chunks.ts'
import type { DataStack } from './data-stack.ts'
import type { GatewayStack } from './gateway-stack.ts'
import { thresholdOf } from './monitoring/alarms/alarm-spec.ts'
import { alarmTable } from './monitoring/alarms/alarm-table.ts'
import { cloudWatchMetric } from './monitoring/cloudwatch-metric.ts'
import {
  type DashboardRow,
  type Graph,
  type Line,
  numberedMeasure,
} from './monitoring/dashboard/graph.ts'
import { machineRows } from './monitoring/dashboard/machine-rows.ts'
import { moneyRows } from './monitoring/dashboard/money-rows.ts'
import { GatewayAlarms } from './monitoring/gateway-alarms.ts'
import type { Watched } from './monitoring/watched-stack.ts'
import type { DeployedStage } from './stage.ts'
import { StageStack } from './stage-stack.ts'

/** Keeps no data: it may be deleted, and deployed again after the stacks that it watches. */
export class WatchStack extends StageStack {
  constructor(
    scope: App,
    stage: DeployedStage,
    {
      data: { topic, pageTopic },
      gateway,
    }: { readonly data: DataStack; readonly gateway: GatewayStack },
  ) {
    super(scope, stage, { part: 'watch', holds: 'alarms and dashboard' })
    this.addStackDependency(gateway)
    const { watched } = gateway
    const pages = pageTopic
      ? new GatewayAlarms(this, 'Alarms', {
          stage: watched.stage,
          groups: alarmTable(watched),
          quietId: 'quiet',
          topic,
          pageTopic,
        }).pages
      : []
    new GatewayDashboard(this, 'Dashboard', { watched, pages })
  }
}

const GRAPHS_A_LINE = 4
/** A dashboard has 24 columns. */
const WIDTH = 24 / GRAPHS_A_LINE
const HEIGHT = 5

/**
 * "Is money moving?" first, then the machines. Every stage has a dashboard: an account's first
 * three are free, and stages without alarms need one most.
 */
class GatewayDashboard extends Construct {
  constructor(
    scope: Construct,
    id: string,
    props: { readonly watched: Watched; readonly pages: readonly IAlarm[] },
  ) {
    super(scope, id)
    const { watched, pages } = props
    const status = new AlarmStatusWidget({
      title: 'Pages',
      alarms: [...pages],
      height: 2,
      width: 24,
    })
    new Dashboard(this, 'Dashboard', {
      dashboardName: `gateway-${watched.stage}`,
      defaultInterval: Duration.hours(3),
      // A graph's title names its period: "per minute" must stay that, whatever span is shown.
      periodOverride: PeriodOverride.INHERIT,
      widgets: [
        ...(pages.length > 0 ? [[status]] : []),
        ...[...moneyRows(watched), ...machineRows(watched), ...alarmRows(watched)].flatMap(
          (row) => [
            [headingWidget(`## ${row.heading}`)],
            ...graphLines(row.graphs).map((widgets) => [...widgets]),
          ],
        ),
      ],
    })
  }
}

/** The measure of each alarm, with its threshold. A stage without alarms shows the measures too. */
function alarmRows(watched: Watched): readonly DashboardRow[] {
  return alarmTable(watched).map((group) => ({
    heading: `Alarms: ${group.heading}`,
    graphs: group.alarms.map((spec) => ({
      title: spec.id,
      unit: spec.unit,
      lines: [{ label: spec.id, measure: spec.measure }],
      periodMinutes: spec.when.minutes,
      threshold: thresholdOf(spec),
    })),
  }))
}

function headingWidget(markdown: string): IWidget {
  return new TextWidget({ markdown, width: 24, height: 1 })
}

function graphLines(graphs: readonly Graph[]): readonly (readonly IWidget[])[] {
  return chunks(graphs, GRAPHS_A_LINE).map((line) => line.map(widgetOf))
}

function widgetOf({ title, unit, lines, stacked = false, periodMinutes = 1, threshold }: Graph) {
  return new GraphWidget({
    title: `${title} (${unit})`,
    left: lines.map((line, at) => metricOf(line, at, periodMinutes)),
    ...(threshold !== undefined && { leftAnnotations: [{ value: threshold, label: 'alarm' }] }),
    leftYAxis: { min: 0, label: unit, showUnits: false },
    view: stacked ? GraphWidgetView.BAR : GraphWidgetView.TIME_SERIES,
    stacked,
    width: WIDTH,
    height: HEIGHT,
  })
}

function metricOf(line: Line, at: number, periodMinutes: number): IMetric {
  return 'searchOver' in line
    ? new MathExpression({
        expression: line.searchOver(periodMinutes),
        usingMetrics: {},
        period: Duration.minutes(periodMinutes),
        // CloudWatch labels lines by the dimensions in which they differ.
        label: '',
      })
    : cloudWatchMetric(numberedMeasure(line.measure, at), periodMinutes, line.label)
}
