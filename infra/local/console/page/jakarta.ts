import { JAKARTA_MS } from '../../../../shared/time.ts'

/** The name of Jakarta's zone, which each shown time of day carries. */
export const ZONE = 'WIB'

/** The time of day of a UTC instant in Jakarta: `15:49:46`. */
export function jakartaClock(at: string): string {
  return inJakarta(at).slice(11)
}

/** The day of a UTC instant in Jakarta: `2026-11-27`. */
export function jakartaDay(at: string): string {
  return inJakarta(at).slice(0, 10)
}

/** The time of day of a UTC instant in Jakarta, with the zone: `15:49 WIB`. */
export function jakartaMinuteOfDay(at: string): string {
  return `${inJakarta(at).slice(11, 16)} ${ZONE}`
}

/** A UTC instant in Jakarta, to the minute and with the zone: `2026-11-27 15:49 WIB`. */
export function jakartaMinute(at: string): string {
  return `${inJakarta(at).slice(0, 16)} ${ZONE}`
}

/** A UTC instant in Jakarta, to the second and with the zone: `2026-11-27 15:49:46 WIB`. */
export function jakartaTime(at: string): string {
  return `${inJakarta(at)} ${ZONE}`
}

/** The same instant in UTC, for the text that a pointer over a time shows. */
export function utcTime(at: string): string {
  return `${secondOf(at)} UTC`
}

/** Not an option of a command, and not a quoted text: a command must stay as it is. */
const INSTANTS = /(?<!["']|--\w+ )\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g

/** A text of the gateway, with its UTC instants in the time of Jakarta. */
export function withJakartaTimes(text: string): string {
  return text.replaceAll(INSTANTS, jakartaTime)
}

/** A text that is no time is shown as it is. */
function inJakarta(at: string): string {
  const ms = Date.parse(at)
  return Number.isNaN(ms) ? at : secondOf(new Date(ms + JAKARTA_MS).toISOString())
}

function secondOf(at: string): string {
  return at.slice(0, 19).replace('T', ' ')
}
