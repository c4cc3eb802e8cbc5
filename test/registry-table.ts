import { NOT_AUDITED, REGISTRY, ROLES } from './single-changes/registry.ts'
import { markdownTable } from './support/markdown-table.ts'

type Role = (typeof ROLES)[number]

/** What determines each stored attribute. `docs/reliability.md` has one role, the facts. */
export function registryTable(roles: readonly Role[] = ROLES) {
  const rows = Object.entries(REGISTRY).flatMap(([kind, lines]) =>
    lines.flatMap(([role, by, ...attributes]) =>
      roles.includes(role)
        ? [[kind, ...(roles.length > 1 ? [role] : []), by, attributes.join(', ')]]
        : [],
    ),
  )
  const counts = ROLES.map((role) => `${attributesOf(role).length} ${role}`)
  const notAudited = Object.entries(NOT_AUDITED).map(([kind, why]) => [kind, why])
  return [
    markdownTable(
      ['Kind of row', ...(roles.length > 1 ? ['Role'] : []), 'By what', 'Attributes'],
      rows,
    ),
    `Attributes: ${counts.join(', ')}.`,
    markdownTable(['Not audited', 'What it is'], notAudited),
  ].join('\n\n')
}

export function attributesOf(role: Role) {
  return Object.entries(REGISTRY).flatMap(([kind, lines]) =>
    lines.flatMap(([own, , ...attributes]) =>
      own === role ? attributes.map((name) => `${kind}.${name}`) : [],
    ),
  )
}
