import { NOT_AUDITED, REGISTRY, ROLES } from './single-changes/registry.ts'
import { markdownTable } from './support/markdown-table.ts'

/** The part of `docs/reliability.md` that says what determines each stored attribute. */
export function registryTable(): string {
  const rows = Object.entries(REGISTRY).flatMap(([kind, lines]) =>
    lines.map(([role, by, ...attributes]) => [kind, role, by, attributes.join(', ')]),
  )
  const counts = ROLES.map((role) => `${attributesOf(role).length} ${role}`)
  const notAudited = Object.entries(NOT_AUDITED).map(([kind, why]) => [kind, why])
  return [
    markdownTable(['Kind of row', 'Role', 'By what', 'Attributes'], rows),
    `Attributes: ${counts.join(', ')}.`,
    markdownTable(['Not audited', 'What it is'], notAudited),
  ].join('\n\n')
}

export function attributesOf(role: (typeof ROLES)[number]): readonly string[] {
  return Object.entries(REGISTRY).flatMap(([kind, lines]) =>
    lines.flatMap(([own, , ...attributes]) =>
      own === role ? attributes.map((name) => `${kind}.${name}`) : [],
    ),
  )
}
