import { thresholdOf } from '../alarms/alarm-spec.ts'
import { alarmTable } from '../alarms/alarm-table.ts'
import type { Watched } from '../alarms/watched.ts'
import { type DashboardRow, line } from './graph.ts'

/** What each alarm sees, and where it goes off. A stage without alarms has them too. */
export const alarmRows = (watched: Watched): readonly DashboardRow[] =>
  alarmTable(watched).map(({ heading, alarms }) => ({
    heading: `Alarms: ${heading}`,
    graphs: alarms.map((spec) => ({
      title: spec.id,
      unit: spec.unit,
      lines: [line(spec.id, spec.measure)],
      periodMinutes: spec.when.minutes,
      threshold: thresholdOf(spec),
    })),
  }))
