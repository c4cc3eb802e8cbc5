import type * as v from 'valibot'
import { type FunctionSpec, isHttp } from '../../../functions/function-spec.ts'
import { ENV, queueUrlVariable } from '../../../shared/runtime/config.ts'
import type { DeployedSettings } from '../../../shared/stage-settings.ts'
import type { DeployedStage } from '../stage.ts'
import type { GrantedResources } from './grants.ts'
import { clientEnvironments } from './reserved-concurrency.ts'

/**
 * A function's environment: stage and table always, and only the addresses that its manifest entry
 * uses.
 */
export function environmentOf(
  spec: FunctionSpec,
  { stage, data: { table, queues, topic, sealKey } }: GrantedResources,
): Record<string, string> {
  return {
    [ENV.stage]: stage.settings.name,
    [ENV.settings]: JSON.stringify(settingsOf(spec, stage)),
    [ENV.table]: table.tableName,
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

/** The settings that this function uses. */
function settingsOf(
  spec: FunctionSpec,
  stage: DeployedStage,
): v.InferInput<typeof DeployedSettings> {
  const { payerDefaults, callsMerchants, trigger } = spec
  const { providerFees, keyLifetimeDays, defaultReturnUrl, defaultDisplayName, ...settings } =
    stage.settings
  const { providerCallsPerMinute, clientRateLimit, clientCreateLimit } = settings
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
    ...(payerDefaults === true && { defaultReturnUrl, defaultDisplayName }),
    ...(environments !== undefined && { clientRateLimit, clientCreateLimit, environments }),
  }
}
