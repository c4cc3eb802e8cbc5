import type { Watched } from '../watched-stack.ts'
import type { AlarmGroup } from './alarm-spec.ts'
import { announcementAlarms } from './announcement-alarms.ts'
import { moneyInAlarms } from './money-in-alarms.ts'
import { platformAlarms } from './platform-alarms.ts'
import { providerAlarms } from './provider-alarms.ts'
import { repairAlarms } from './repair-alarms.ts'
import { serviceLevels } from './service-levels.ts'
import { settlementAlarms } from './settlement-alarms.ts'

/**
 * Every alarm of a stage, each with its widget on the dashboard and the beginning of its entry in
 * docs/runbook.md. Their number does not grow with payments or clients: no metric has a client as
 * dimension.
 */
export function alarmTable(watched: Watched): readonly AlarmGroup[] {
  return [
    { heading: 'Service levels', alarms: serviceLevels(watched) },
    { heading: 'Money in', alarms: moneyInAlarms(watched) },
    { heading: 'Provider', alarms: providerAlarms(watched) },
    { heading: 'Announcements', alarms: announcementAlarms(watched) },
    { heading: 'Repair', alarms: repairAlarms(watched) },
    { heading: 'Settlements and suspense', alarms: settlementAlarms(watched) },
    { heading: 'Platform', alarms: platformAlarms(watched) },
  ]
}
