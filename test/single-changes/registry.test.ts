/**
 * Goal: the registry says of every stored attribute what determines it, and few of them have no
 * witness. Every step of the simulation checks that no row has another attribute.
 */
import { describe, expect, it } from 'vitest'
import { withWritten } from '../../infra/local/terminal/with-written.ts'
import { isKnownName } from '../../shared/audit/rows/row-differences.ts'
import { attributesOf, registryTable } from '../registry-table.ts'
import { AUDITED_KINDS } from '../support/recount/remade-rows.ts'
import { projectText } from '../support/source-file.ts'
import { REGISTRY, ROLES } from './registry.ts'

const DOCUMENT = 'docs/reliability.md'

describe('the registry of stored attributes (design section 4, Audit)', () => {
  it('has at most 40 facts and copies, and at most 40 changing attributes', () => {
    const unwitnessed = [...attributesOf('fact'), ...attributesOf('copy')]

    expect(unwitnessed.length).toBeLessThanOrEqual(40)
    expect(attributesOf('changing').length).toBeLessThanOrEqual(40)
  })

  it('names each attribute of a kind once, of exactly the kinds that have a maker', () => {
    const all = Object.entries(REGISTRY).flatMap(([kind, lines]) =>
      lines.flatMap(([, , ...attributes]) => attributes.map((name) => `${kind}.${name}`)),
    )

    expect(all).toStrictEqual([...new Set(all)])
    expect(Object.keys(REGISTRY)).toStrictEqual(AUDITED_KINDS)
  })

  it('has no attribute whose name the audit takes for one of a later release', () => {
    const names = ROLES.flatMap(attributesOf).map((name) => name.split('.').at(-1) ?? name)

    expect(names.filter((name) => !isKnownName(name))).toStrictEqual([])
  })

  it('is in the document', () => {
    const document = projectText(DOCUMENT)

    expect(withWritten(document, 'registry', registryTable(['fact']))).toBe(document)
  })
})
