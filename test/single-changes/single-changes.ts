import { readDetails } from '../../shared/payment/payment-details.ts'
import { fromItem, toItem } from '../../shared/table/attributes.ts'
import { deflateText, inflateText } from '../../shared/table/deflated-text.ts'
import type { Key } from '../../shared/table/keys.ts'
import { kindOf } from '../support/recount/remade-rows.ts'
import { keyOfRow, type Raw, tamperingsOf } from '../support/tampering.ts'
import { NOT_AUDITED } from './registry.ts'

/** A change of one stored row. `attribute` is absent if the whole row was lost or added. */
export type SingleChange = {
  readonly kind: string
  readonly attribute: string | undefined
  readonly what: string
  readonly key: Key
  /** Undefined: the row is lost. */
  readonly item: Raw | undefined
}

/**
 * Every single change of one row of each shape: each attribute changed and removed, the row lost,
 * and a copy of the row under another id added.
 */
export function singleChangesOf(items: readonly Raw[]) {
  const audited = items.filter((item) => !(kindOfRow(item) in NOT_AUDITED))
  const shapes = Map.groupBy(audited, shapeOf)
  return [...shapes.values()].flatMap(([item]) => (item ? changesOfRow(item) : []))
}

/** Rows of one kind in one state with the same attributes. */
function shapeOf(item: Raw) {
  const state = ['status', 'state', 'type', 'action', 'cause'].map((name) => String(item[name]))
  return [kindOfRow(item), ...state, ...Object.keys(item).toSorted()].join(' ')
}

function kindOfRow(raw: Raw) {
  return kindOf({ ...fromItem(raw), ...keyOfRow(raw) })
}

function changesOfRow(item: Raw) {
  const [kind, key] = [kindOfRow(item), keyOfRow(item)]
  const attributes = tamperingsOf(opened(item)).map((tampering) => ({
    kind,
    attribute: tampering.name.split(' ', 1)[0],
    what: tampering.name,
    key,
    item: closed(tampering.item),
  }))
  const added = copyOf(item)
  return [
    ...attributes,
    { kind, attribute: undefined, what: 'lost', key, item: undefined },
    { kind, attribute: undefined, what: 'added', key: keyOfRow(added), item: added },
  ]
}

/** With its deflated texts as members. */
function opened({ details, body, ...item }: Raw) {
  const text = inflateText(body)
  return {
    ...item,
    ...(details !== undefined && { details: toItem(readDetails(details)) }),
    ...(body !== undefined && { body: text === undefined ? body : JSON.parse(text) }),
  }
}

function closed({ details, body, ...item }: Raw): Raw {
  const isText = typeof body === 'string' || body === undefined
  return {
    ...item,
    ...(details !== undefined && {
      details: deflateText(JSON.stringify(fromItem(Object(details)))),
    }),
    ...(body !== undefined && { body: isText ? body : deflateText(JSON.stringify(body)) }),
  }
}

const OTHER_ID = '0f0f0f0f-0f0f-4f0f-8f0f-0f0f0f0f0f0f'
const LAST_ID = /[0-9a-f-]{36}(?!.*[0-9a-f-]{36})/

/** A row like this one with the last id of its key exchanged, in its index attributes too. */
function copyOf(item: Raw) {
  const inSk = LAST_ID.exec(String(item['sk']))?.[0]
  const id = inSk ?? LAST_ID.exec(String(item['pk']))?.[0]
  const copy = Object.fromEntries(
    Object.entries(item).map(([name, value]) => [
      name,
      id !== undefined && typeof value === 'string' ? value.replace(id, OTHER_ID) : value,
    ]),
  )
  return id === undefined ? { ...item, sk: `${String(item['sk'])}x` } : copy
}
