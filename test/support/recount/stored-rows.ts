import { comparable, rowDifferences } from '../../../shared/audit/rows/row-differences.ts'
import { attributeName, fromItem } from '../../../shared/table/attributes.ts'
import { NOT_AUDITED, roleOf } from '../../single-changes/registry.ts'
import type { RawItem } from './books.ts'
import { kindOf, remadeRow } from './remade-rows.ts'

/** Stored items never change, so each version of a row is checked once. */
const known = new WeakMap<RawItem, readonly string[]>()

/**
 * Each stored row is as its kind makes it from the thing that the row holds: no update leaves an
 * attribute that the maker of the row does not make, or makes otherwise.
 */
export function rowProblems(items: readonly RawItem[]): readonly string[] {
  return items.flatMap((item) => {
    const problems = known.get(item) ?? problemsOfRow(item)
    known.set(item, problems)
    return problems
  })
}

function problemsOfRow(raw: RawItem) {
  const item = { ...fromItem(raw), pk: String(raw['pk']), sk: String(raw['sk']) }
  const about = `${kindOf(item)} ${item.pk} ${item.sk}`
  try {
    const remade = remadeRow(item)
    if (remade === undefined)
      return kindOf(item) in NOT_AUDITED ? [] : [`${about} has a kind that is in no list`]
    const unlisted = attributesOf(item).filter((name) => roleOf(kindOf(item), name) === undefined)
    const isMoved = remade.key.pk !== item.pk || remade.key.sk !== item.sk
    const differences = rowDifferences(kindOf(item), '', remade.fields, item)
    return [
      ...(isMoved ? [`${about} belongs to ${remade.key.pk} ${remade.key.sk}`] : []),
      ...unlisted.map(
        (name) => `${about}: ${name} is in no list of test/single-changes/registry.ts`,
      ),
      ...differences.map(
        ({ what }) => `${about} is stored with another ${what} than its kind makes`,
      ),
    ]
  } catch (error) {
    return [`${about} cannot be read: ${String(error)}`]
  }
}

function attributesOf(item: RawItem) {
  const { details, ...others } = comparable(item)
  const members = Object.keys(Object(details)).map((name) => `details.${attributeName(name)}`)
  return [...Object.keys(others), ...members]
}
