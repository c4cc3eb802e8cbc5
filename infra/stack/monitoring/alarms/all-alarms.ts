import type { AlarmSpec } from './alarm-spec.ts'
import { announcementAlarms } from './announcement-alarms.ts'
import { apiAlarms } from './api-alarms.ts'
import { createAlarms } from './create-alarms.ts'
import { dueWorkAlarms } from './due-work-alarms.ts'
import { functionAlarms } from './function-alarms.ts'
import { paymentAlarms } from './payment-alarms.ts'
import { providerAlarms } from './provider-alarms.ts'
import { queueAlarms } from './queue-alarms.ts'
import { settlementAlarms } from './settlement-alarms.ts'
import { tableAlarms } from './table-alarms.ts'
import type { Watched } from './watched.ts'
import { writeAlarms } from './write-alarms.ts'

/** Every alarm of a stage. Their number does not grow with payments or clients: no metric has a client in it. */
export const allAlarms = (watched: Watched): readonly AlarmSpec[] =>
  [
    createAlarms,
    paymentAlarms,
    announcementAlarms,
    dueWorkAlarms,
    settlementAlarms,
    providerAlarms,
    writeAlarms,
    apiAlarms,
    queueAlarms,
    functionAlarms,
    tableAlarms,
  ].flatMap((alarms) => alarms(watched))
