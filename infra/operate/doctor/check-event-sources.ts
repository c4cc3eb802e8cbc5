import {
  type EventSourceMappingConfiguration,
  type LambdaClient,
  ListEventSourceMappingsCommand,
} from '@aws-sdk/client-lambda'
import { queuesOf } from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { loadOf } from '../../stack/capacity/load-of.ts'
import { liveName } from '../../stack/functions/live-alias.ts'
import { stackNameOf } from '../../stack/stack-name-of.ts'
import type { DeployedStage } from '../../stack/stage.ts'
import { type Finding, ok, wrong } from '../check/finding.ts'
import { runCheck } from '../check/run-check.ts'

/** Whether what waits in queues is read, and how. CloudFormation compares no event sources. */
export const checkEventSources = async (lambda: LambdaClient, stage: DeployedStage): Promise<readonly Finding[]> => {
  const readers = MANIFEST.flatMap((spec) => {
    const sources = queuesOf(spec.trigger, loadOf(stage)).map((source) => ({
      ...source,
      name: `${stackNameOf(stage)}-${source.queue}`,
    }))
    return sources.map(async ({ name, batchSize, maxConcurrency }, at) =>
      runCheck(`event source ${name}`, async () => {
        const FunctionName = liveName(spec, stage)
        const { EventSourceMappings: all = [] } = await lambda.send(
          new ListEventSourceMappingsCommand({ FunctionName }),
        )
        // What leads from somewhere else is held against the first.
        const isStray = (source: string | undefined) => at === 0 && !sources.some((own) => own.name === source)
        const found = all.filter((one) => queueNameOf(one) === name || isStray(queueNameOf(one)))
        if (found.length === 0) return wrong(`event source ${name}`, 'is missing', REMEDY)
        return found.map((one) =>
          comparison(`event source ${name}`, [
            ['source', name, queueNameOf(one)],
            ['state', 'Enabled', one.State],
            ['batch size', batchSize, one.BatchSize],
            ['most concurrency', maxConcurrency, one.ScalingConfig?.MaximumConcurrency],
            ['partial batches', 'ReportBatchItemFailures', one.FunctionResponseTypes?.join() || undefined],
          ]),
        )
      }),
    )
  })
  return (await Promise.all(readers)).flat()
}

const queueNameOf = ({ EventSourceArn }: EventSourceMappingConfiguration) => EventSourceArn?.split(':').at(-1)

const REMEDY = 'make it as infra/stack/triggers/event-sources.ts says'

type Setting = string | number | undefined

const comparison = (what: string, settings: readonly (readonly [string, expected: Setting, actual: Setting])[]) => {
  const different = settings
    .filter(([, expected, actual]) => actual !== expected)
    .map(([setting, expected = 'not set', actual = 'not set']) => `${setting} is ${actual}, should be ${expected}`)
  return different.length === 0 ? ok(what, 'enabled, as deployed') : wrong(what, different.join('; '), REMEDY)
}
