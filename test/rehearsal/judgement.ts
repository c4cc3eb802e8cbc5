import { existsSync, readFileSync } from 'node:fs'
import * as v from 'valibot'
import { MANIFEST } from '../../functions/manifest.ts'
import { STACK } from './rehearsal.ts'

const VerdictSchema = v.object({
  principal: v.string(),
  action: v.string(),
  resource: v.string(),
  /** The kinds of the items whose keys the call names. */
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

/** Sums the verdicts up, without those of calls that were made to be refused. */
export function judgementOn(verdicts: readonly Verdict[]) {
  const calls = new Map<string, number>()
  for (const name of verdicts.flatMap((verdict) => functionOf(verdict) ?? []))
    calls.set(name, (calls.get(name) ?? 0) + 1)
  const askNothing = MANIFEST.filter(
    ({ table, sends, alerts, secrets }) =>
      Object.keys(table).length === 0 && sends.length === 0 && !alerts && secrets.length === 0,
  ).map(({ name }) => name)
  return {
    calls,
    denied: verdicts.filter(({ denied }) => denied !== null).map(describeVerdict),
    /** Functions that may call AWS and never did. */
    silent: MANIFEST.map(({ name }) => name).filter(
      (name) => !calls.has(name) && !askNothing.includes(name),
    ),
    /** Functions whose role allows no call. */
    askNothing,
  }
}

/** The function that asked: Lambda names the session of its role after it. */
function functionOf({ principal }: Verdict): string | undefined {
  return new RegExp(`:assumed-role/[^/]+/${STACK}-(.+)$`).exec(principal)?.[1]
}

function describeVerdict({ principal, action, resource, kinds, denied }: Verdict): string {
  return `${principal.split('/').at(-1)} ${action} ${resource}${kinds.length > 0 ? ` of ${kinds.join(', ')}` : ''}${denied === null ? '' : `: ${denied}`}`
}

export type Judgement = ReturnType<typeof judgementOn>

/** What MiniStack lacks, or does otherwise than AWS. A run adds what it finds. */
const NOT_EMULATED: readonly string[] = [
  'mended: `Ref` of a secret is its name in MiniStack, and its ARN on AWS (judged_ministack.py)',
  'mended: the judge does not know dynamodb:LeadingKeys, dynamodb:ReturnValues, the attributes of writes and kms:EncryptionContext (judged_ministack.py)',
  'mended: a batch of messages is judged as sqs:SendMessageBatch, which is no permission on AWS: there it is sqs:SendMessage',
  'mended: functions that start at the same moment can fail with “dictionary changed size during iteration” (judged_ministack.py)',
  'mended: a deployment killed the runs under way (judged_ministack.py)',
  'what Lambda asks in a function’s name (reading queues, writing logs, sending what was given up) is not judged',
  'IAM takes a policy of a name that is taken: on AWS a stack in another region is refused until the lost one’s are deleted',
  'roles of a stack in another region get the names of the first one’s, so what is left in the lost region is refused from then on',
  'stage prod: CloudFront, WAF, ACM, CodeDeploy’s canaries, CloudTrail and alarms; the stage rehearsed is dev',
  'quotas, throttles and concurrency of Lambda, API Gateway and DynamoDB',
]

/** Prints what was judged and what the emulator cannot do. Returns whether all went well. */
export function printReport(
  { calls, denied, silent, askNothing }: Judgement,
  limits: readonly string[],
): boolean {
  const all = [...calls.values()].reduce((sum, count) => sum + count, 0)
  console.log(
    `\n${all} calls of ${calls.size} functions were judged by the policies of their roles:`,
  )
  for (const [name, count] of [...calls].toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    console.log(`${String(count).padStart(6)}  ${name}`)
  }
  console.log(`Asks AWS nothing, so there is nothing to judge: ${askNothing.join(', ')}`)
  for (const name of silent) console.log(`Made no call: ${name}`)
  for (const one of denied) console.log(`DENIED  ${one}`)
  console.log('\nWhat the emulator cannot do, so that it was not rehearsed or was mended for it:')
  for (const limit of [...NOT_EMULATED, ...limits]) console.log(`  - ${limit}`)
  return denied.length === 0 && silent.length === 0
}
