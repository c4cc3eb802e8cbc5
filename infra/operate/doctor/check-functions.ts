import {
  GetFunctionConcurrencyCommand,
  GetFunctionConfigurationCommand,
  type LambdaClient,
} from '@aws-sdk/client-lambda'
import * as v from 'valibot'
import type { StageTemplate } from '../../stack/stage-template.ts'
import { type Finding, ok, wrong } from '../check/finding.ts'
import { look, unlessAbsent } from '../check/look.ts'
import { compareSettings } from './compare.ts'

const FunctionProperties = v.object({
  FunctionName: v.string(),
  Runtime: v.string(),
  Timeout: v.number(),
  MemorySize: v.number(),
  Architectures: v.array(v.string()),
  ReservedConcurrentExecutions: v.optional(v.number()),
  Environment: v.optional(v.object({ Variables: v.record(v.string(), v.unknown()) })),
})
type FunctionProperties = v.InferOutput<typeof FunctionProperties>

const OUR_PREFIX = 'gateway-'

/** So many are asked about at a time: Lambda lets an account's management calls through slowly. */
const AT_ONCE = 5

/** Every function of the manifest against the synthesised one. One line when all are right, one for each that is not. */
export const checkFunctions = async (
  client: LambdaClient,
  template: Pick<StageTemplate, 'ofType'>,
): Promise<readonly Finding[]> => {
  const functions = template.ofType('AWS::Lambda::Function').map(({ properties }) => properties)
  const expected = functions.flatMap((properties) =>
    v.is(FunctionProperties, properties) ? [v.parse(FunctionProperties, properties)] : [],
  )
  const findings: Finding[] = functions
    .filter((properties) => !v.is(FunctionProperties, properties))
    .flatMap(unreadable)
  for (let at = 0; at < expected.length; at += AT_ONCE) {
    const some = expected.slice(at, at + AT_ONCE)
    const found = await Promise.all(
      some.map((one) => look(`function ${one.FunctionName}`, () => checkFunction(client, one))),
    )
    findings.push(...found.flat())
  }
  const bad = findings.filter(({ state }) => state !== 'ok')
  return bad.length > 0 ? bad : [ok('functions', `${findings.length} with the settings of the manifest`)]
}

/** CDK's own helpers, if there are any, have no name that we chose; of ours none may go unlooked at. */
const unreadable = ({ FunctionName: name }: Readonly<Record<string, unknown>>): readonly Finding[] =>
  typeof name === 'string' && name.startsWith(OUR_PREFIX)
    ? [
        wrong(
          `function ${name}`,
          'its template has another form than the doctor reads',
          'correct infra/operate/doctor/check-functions.ts',
        ),
      ]
    : []

const checkFunction = async (client: LambdaClient, expected: FunctionProperties): Promise<Finding> => {
  const { FunctionName } = expected
  const what = `function ${FunctionName}`
  const found = await unlessAbsent(
    ['ResourceNotFoundException'],
    client.send(new GetFunctionConfigurationCommand({ FunctionName })),
  )
  if (!found) return wrong(what, 'is missing', 'npm run deploy')
  // Of every function: after a restore one may be left at zero, by which nothing starts it.
  const { ReservedConcurrentExecutions: reserved } = await client.send(
    new GetFunctionConcurrencyCommand({ FunctionName }),
  )
  return compareSettings(
    what,
    [
      ['state', 'Active', found.State],
      ['last update', 'Successful', found.LastUpdateStatus],
      ['runtime', expected.Runtime, found.Runtime],
      ['architecture', expected.Architectures, found.Architectures],
      ['timeout', expected.Timeout, found.Timeout],
      ['memory', expected.MemorySize, found.MemorySize],
      ['reserved concurrency', expected.ReservedConcurrentExecutions, reserved],
      ['environment', namesOf(expected.Environment?.Variables), namesOf(found.Environment?.Variables)],
    ],
    'as synthesised',
  )
}

/** Names alone: values may be anyone's. */
const namesOf = (variables: Readonly<Record<string, unknown>> | undefined) => Object.keys(variables ?? {}).toSorted()
