import { existsSync, readFileSync } from 'node:fs'
import * as v from 'valibot'

const VerdictSchema = v.object({
  principal: v.string(),
  action: v.string(),
  resource: v.string(),
  kinds: v.array(v.string()),
  denied: v.nullable(v.string()),
})
export type Verdict = v.InferOutput<typeof VerdictSchema>

export function readVerdicts(file: string): readonly Verdict[] {
  return existsSync(file)
    ? readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => v.parse(VerdictSchema, JSON.parse(line)))
        // The clock moved while such a call was under way. Its caller has signed and sent it again.
        .filter(({ denied }) => denied !== 'RequestTimeTooSkewed')
    : []
}
