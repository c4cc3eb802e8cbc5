import { GetFunctionConcurrencyCommand, type LambdaClient } from '@aws-sdk/client-lambda'
import { functionName } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { mapInChunks } from '../../../shared/chunks.ts'
import { reservedConcurrency } from '../../stack/functions/reserved-concurrency.ts'
import { PROVER, stackNameOf } from '../../stack/stack-name-of.ts'
import type { DeployedStage } from '../../stack/stage.ts'
import { type Finding, ok, wrong } from '../check/finding.ts'
import { runCheck } from '../check/run-check.ts'

/** So many are asked about at a time: Lambda lets an account's management calls through slowly. */
const CONCURRENCY = 5

/**
 * How often functions may run at a time: after a restore one may be left at zero, by which nothing starts it. Where the
 * stage reserves nothing, CloudFormation has nothing to compare.
 */
export const checkConcurrency = async (lambda: LambdaClient, stage: DeployedStage): Promise<readonly Finding[]> => {
  const functions = MANIFEST.map((spec) => ({
    FunctionName: functionName(stage.settings.name, spec),
    expected: reservedConcurrency(spec, stage).reservedConcurrentExecutions,
  }))
  const all = [...functions, { FunctionName: stackNameOf(stage, PROVER), expected: undefined }]
  const found = await mapInChunks(all, CONCURRENCY, ({ FunctionName, expected = 'none' }) =>
    runCheck(`function ${FunctionName}`, async () => {
      const answer = await lambda.send(new GetFunctionConcurrencyCommand({ FunctionName }))
      const { ReservedConcurrentExecutions: actual = 'none' } = answer
      const detail = `reserved concurrency is ${actual}, should be ${expected}`
      return actual === expected
        ? []
        : wrong(`function ${FunctionName}`, detail, 'docs/operations.md, section 7, step 8')
    }),
  )
  const findings = found.flat()
  return findings.length > 0 ? findings : [ok('functions', 'all may run as often as the stage says')]
}
