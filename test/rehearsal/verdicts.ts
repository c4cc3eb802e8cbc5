import { existsSync, readFileSync } from 'node:fs'
import * as v from 'valibot'

const VerdictSchema = v.object({
  principal: v.string(),
  action: v.string(),
  resource: v.string(),
  /** Of the items whose keys the call names. */
  kinds: v.array(v.string()),
  denied: v.nullable(v.string()),
})
export type Verdict = v.InferOutput<typeof VerdictSchema>

/** A call that was on its way while the clock was put on, and was signed again. */
const isOfTheJump = ({ denied }: Verdict) => denied === 'RequestTimeTooSkewed'

/** What the judge has said so far, in its order. */
export const readVerdicts = (file: string): readonly Verdict[] =>
  existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => v.parse(VerdictSchema, JSON.parse(line)))
        .filter((verdict) => !isOfTheJump(verdict))
    : []

/** The function that asked: Lambda names the session of its role after it. */
export const functionOf = ({ principal }: Verdict, stackName: string): string | undefined => {
  const session = /:assumed-role\/[^/]+\/(.+)$/.exec(principal)?.[1]
  return session?.startsWith(`${stackName}-`) ? session.slice(stackName.length + 1) : undefined
}

export const describeVerdict = ({ principal, action, resource, kinds, denied }: Verdict): string =>
  `${principal.split('/').at(-1)} ${action} ${resource}${kinds.length > 0 ? ` of ${kinds.join(', ')}` : ''}${denied === null ? '' : `: ${denied}`}`
