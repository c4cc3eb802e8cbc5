import { type DeployedStage, stackNameOf } from '../../stack/stage.ts'
import { type AwsClients, describeStack, wasCreated } from './aws-clients.ts'
import { type Finding, findingsOrOk, wrong } from './finding.ts'

/** The stacks that read outputs of another stack, by their parts: undefined is the gateway. */
export const REFERENCES: readonly (readonly [
  reader: string | undefined,
  read: string | undefined,
])[] = [
  [undefined, 'data'],
  ['operators', 'data'],
  ['watch', undefined],
]

/**
 * Whether each stack was updated after the stack whose outputs it reads was made. CloudFormation
 * reads outputs when it updates the reader. A stack that was made anew has other keys and secrets,
 * and CDK does not update a reader whose template is the same.
 */
export async function checkReferences(
  { cloudFormation }: Pick<AwsClients, 'cloudFormation'>,
  stage: DeployedStage,
): Promise<readonly Finding[]> {
  const what = 'references between stacks'
  const parts = [...new Set(REFERENCES.flat())]
  const described = await Promise.all(
    parts.map(async (part) => {
      const stack = await describeStack(cloudFormation, stackNameOf(stage, part))
      return [part, stack && wasCreated(stack) ? stack : undefined] as const
    }),
  )
  const stacks = new Map(described)
  const findings = REFERENCES.flatMap(([reader, read]) => {
    const madeAt = stacks.get(read)?.CreationTime
    const readAt = stacks.get(reader)?.LastUpdatedTime ?? stacks.get(reader)?.CreationTime
    if (madeAt === undefined || readAt === undefined || readAt >= madeAt) return []
    const [name, made] = [stackNameOf(stage, reader), stackNameOf(stage, read)]
    const detail = `${name} still has keys, secrets or ids of an earlier ${made}`
    return [wrong(what, detail, updateCommand(name, madeAt))]
  })
  return findingsOrOk(findings, what, 'each stack has read the present stacks')
}

/** A new tag makes CloudFormation update every resource; the next deployment removes it. */
function updateCommand(name: string, madeAt: Date) {
  const tag = `Key=reads,Value=${madeAt.toISOString().slice(0, 19)}Z`
  return `aws cloudformation update-stack --stack-name ${name} --use-previous-template --capabilities CAPABILITY_NAMED_IAM --tags ${tag}`
}
