import { erase, keyOfRow, putRaw, rawItem } from '../../support/tampering.ts'
import { history, type Place, type Row } from './history-places.ts'

/** Answers how to undo the change. */
export type Corruption = () => Promise<() => Promise<void>>

/**
 * A corruption, and its name in an audit of the whole client. `daily`: the audits report it within
 * a day. `gate`: the payout is refused. `day`: it is refused after the audits of the next day.
 */
export type Case = readonly [
  what: string,
  Corruption,
  name: RegExp,
  detection?: 'daily' | 'gate' | 'day' | 'daily, gate' | 'daily, day',
]

export function together(...corruptions: readonly Corruption[]) {
  return async () => {
    const undo: (() => Promise<void>)[] = []
    for (const corrupt of corruptions) undo.unshift(await corrupt())
    return async () => {
      for (const one of undo) await one()
    }
  }
}

export function change(place: Place, changes: (before: Row) => Row) {
  return replace(place, (before) => [{ ...before, ...changes(before) }])
}

function replace(place: Place, rowsAfter: (before: Row) => readonly Row[]) {
  return async () => {
    const before = await rawItem(history.deps, await place())
    const rows = rowsAfter(before)
    await erase(history.deps, keyOfRow(before))
    for (const row of rows) await putRaw(history.deps, row)
    return async () => {
      for (const row of rows) await erase(history.deps, keyOfRow(row))
      await putRaw(history.deps, before)
    }
  }
}

export function set(place: Place, changes: Row) {
  return change(place, () => changes)
}

export function add(place: Place, attribute: string) {
  return change(place, ({ [attribute]: before = 0 }) => ({ [attribute]: Number(before) + 1 }))
}

export function lose(place: Place) {
  return replace(place, () => [])
}

export function copy(place: Place, changes: (before: Row) => Row) {
  return replace(place, (before) => [before, { ...before, ...changes(before) }])
}
