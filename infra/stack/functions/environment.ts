import type * as v from 'valibot'
import { type FunctionSpec, isHttp } from '../../../functions/function-spec.ts'
import { ENV, queueUrlVariable } from '../../../shared/runtime/config.ts'
import type { DeployedSettings } from '../../../shared/stage-settings.ts'
import type { TableAccess } from '../../../shared/table/access.ts'
import { type Partition, pkPrefix } from '../../../shared/table/keys.ts'
import { clientEnvironments } from '../settings/reserved-concurrency.ts'
import type { DeployedStage } from '../stage.ts'
import type { GrantedResources } from './grants.ts'

/** Stage and table always, and only the addresses that the manifest entry uses. */
export function environmentOf(
  spec: FunctionSpec,
  { stage, data: { table, queues, topic, sealKey } }: GrantedResources,
): Record<string, string> {
  return {
    [ENV.stage]: stage.settings.name,
    [ENV.settings]: JSON.stringify(settingsOf(spec, stage)),
    [ENV.table]: table.tableName,
    ...warmingRead(spec.table),
    ...Object.fromEntries(
      spec.sends.map((name) => [queueUrlVariable(name), queues.byName[name].queueUrl]),
    ),
    ...(spec.alerts && { [ENV.alertsTopic]: topic.topicArn }),
    ...(spec.endpointSecrets && { [ENV.sealKey]: sealKey.keyArn }),
    ...(spec.calls && {
      [ENV.callTries]: String(spec.calls.tries),
      [ENV.callTimeout]: String(spec.calls.timeoutMs),
    }),
  }
}

function settingsOf(
  spec: FunctionSpec,
  stage: DeployedStage,
): v.InferInput<typeof DeployedSettings> {
  const { payerDefaults, callsMerchants, trigger } = spec
  const {
    providerFees,
    keyLifetimeDays,
    defaultReturnUrl,
    defaultDisplayName,
    pushLimit,
    providerCallsPerMinute,
    clientRateLimit,
    clientCreateLimit,
  } = stage.settings
  const isOperators = trigger.kind === 'operator'
  const environments = clientEnvironments(spec, stage)
  return {
    ...(stage.role === 'closed' && { isClosed: true }),
    ...(providerFees === 'invoiced' && { providerFees }),
    providerCallsPerMinute,
    ...(isOperators && { keyLifetimeDays }),
    ...(stage.webhookEgress === 'nat' &&
      (callsMerchants === true || isOperators) && { httpsPortOnly: true }),
    ...(stage.front !== 'none' && isHttp(spec) && { behindFront: true }),
    ...(stage.domain && isHttp(spec) && { hasDomain: true }),
    ...(payerDefaults === true && { defaultReturnUrl, defaultDisplayName, pushLimit }),
    ...(environments !== undefined && { clientRateLimit, clientCreateLimit, environments }),
  }
}

/**
 * The first read that its role allows: a query if the function queries, else a read by key. It
 * finds nothing (shared/runtime/warm-table.ts).
 */
function warmingRead(access: TableAccess) {
  const { BatchGetItem, BatchGetFields, GetItem, Query, QueryFields, indexes } = access
  const reads = [
    ['WARM_QUERY', firstPrefix(Query ?? QueryFields)],
    ['WARM_INDEX', indexes?.[0]],
    ['WARM_BATCH_GET', firstPrefix(BatchGetItem ?? BatchGetFields)],
    ['WARM_GET', firstPrefix(GetItem)],
  ]
  return Object.fromEntries(reads.filter(([, value]) => value !== undefined).slice(0, 1))
}

function firstPrefix(partitions: readonly Partition[] | undefined) {
  return partitions?.slice(0, 1).map(pkPrefix)[0]
}
