import { JAKARTA_MS } from '../../../../shared/time.ts'

export const ZONE = 'WIB'

/** `15:49:46` */
export function jakartaClock(at: string) {
  return inJakarta(at).slice(11)
}

/** `2026-11-27` */
export function jakartaDay(at: string) {
  return inJakarta(at).slice(0, 10)
}

/** `15:49 WIB` */
export function jakartaMinuteOfDay(at: string) {
  return `${inJakarta(at).slice(11, 16)} ${ZONE}`
}

/** `2026-11-27 15:49 WIB` */
export function jakartaMinute(at: string) {
  return `${inJakarta(at).slice(0, 16)} ${ZONE}`
}

/** `2026-11-27 15:49:46 WIB` */
export function jakartaTime(at: string) {
  return `${inJakarta(at)} ${ZONE}`
}

export function utcTime(at: string) {
  return `${secondOf(at)} UTC`
}

/** Not an option of a command, and not a quoted text: a command must stay as it is. */
const INSTANTS = /(?<!["']|--\w+ )\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g

export function withJakartaTimes(text: string) {
  return text.replaceAll(INSTANTS, jakartaTime)
}

function inJakarta(at: string) {
  const ms = Date.parse(at)
  return Number.isNaN(ms) ? at : secondOf(new Date(ms + JAKARTA_MS).toISOString())
}

function secondOf(at: string) {
  return at.slice(0, 19).replace('T', ' ')
}
