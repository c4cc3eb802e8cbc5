import { join } from 'node:path'
import type { Node, SourceFile, Statement } from 'typescript/unstable/ast'
import { isCallExpression, isFunctionDeclaration, isIdentifier } from 'typescript/unstable/ast'
import { API, type Checker, type Type } from 'typescript/unstable/sync'
import { attributeName } from '../../../shared/table/attributes.ts'
import { PROJECT_ROOT, sourcesIn } from '../../support/source-file.ts'

export const UPDATES = ['update', 'updateFields']

/**
 * What the updates of the project change or compare, by `file: declaration`, in the order of the
 * code. The compiler knows it: the type of a step names its fields. Throws for a step whose type
 * names none, or any.
 */
export function fieldsOfUpdates() {
  const files = sourcesIn('shared').filter(
    ({ path, text }) => !path.startsWith('shared/table/') && /\bupdate(Fields)?\(/.test(text),
  )
  const api = new API({ cwd: PROJECT_ROOT })
  try {
    const config = join(import.meta.dirname, 'shared.tsconfig.json')
    const project = api.updateSnapshot({ openProjects: [config] }).getProject(config)
    if (!project) throw new Error('the compiler does not open the project')
    const { program, checker } = project
    return new Map(
      files.flatMap(({ path }) => {
        const source = program.getSourceFile(join(PROJECT_ROOT, path))
        return source ? updatesIn(checker, path, source) : []
      }),
    )
  } finally {
    api.close()
  }
}

function updatesIn(checker: Checker, path: string, { statements }: SourceFile) {
  return statements.flatMap((statement) => {
    const calls = callsOf(statement)
    if (calls.length === 0) return []
    const place = `${path}: ${nameOf(statement)}`
    return [[place, calls.map((call) => fieldsOf(place, checker.getTypeAtLocation(call)))] as const]
  })
}

function nameOf(statement: Statement) {
  if (isFunctionDeclaration(statement)) return statement.name?.text ?? ''
  return /^\s*(?:export )?(?:const|let) (\w+)/.exec(statement.getText())?.[1] ?? ''
}

function callsOf(node: Node) {
  const inside: Node[] = []
  node.forEachChild((child) => void inside.push(...callsOf(child)))
  const isUpdate =
    isCallExpression(node) &&
    isIdentifier(node.expression) &&
    UPDATES.includes(node.expression.text)
  return isUpdate ? [node, ...inside] : inside
}

function fieldsOf(place: string, step: Type | undefined) {
  const [fields] = step?.getAliasTypeArguments() ?? []
  const members = fields?.isUnionType() ? (fields.getTypes() ?? []) : fields ? [fields] : []
  const names = members.map((member) => {
    if (!member.isStringLiteralType()) throw new Error(`${place}: an update of unnamed fields`)
    return attributeName(member.value)
  })
  if (names.length === 0) throw new Error(`${place}: an update of unnamed fields`)
  return names.toSorted()
}
