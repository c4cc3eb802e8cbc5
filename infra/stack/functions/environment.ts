import { type FunctionSpec, isHttp } from '../../../functions/function-spec.ts'
import { ENV, queueUrlVariable } from '../../../shared/runtime/config.ts'
import type { DeployedStage } from '../stage.ts'
import type { GrantedResources } from './grants.ts'
import { clientEnvironments } from './reserved-concurrency.ts'

/** A function's environment: stage and table always, and only the addresses that its manifest entry uses. */
export const environmentOf = (
  spec: FunctionSpec,
  { stage, data: { table, queues, topic, sealKey } }: GrantedResources,
): Record<string, string> => ({
  ...rateLimitOf(spec, stage),
  [ENV.stage]: stage.settings.name,
  [ENV.table]: table.tableName,
  ...(stage.role === 'closed' && { [ENV.role]: stage.role }),
  ...Object.fromEntries(spec.sends.map((name) => [queueUrlVariable(name), queues.byName[name].queueUrl])),
  ...(spec.alerts && { [ENV.alertsTopic]: topic.topicArn }),
  ...(spec.endpointSecrets && { [ENV.sealKey]: sealKey.keyArn }),
  ...(spec.calls && { [ENV.callTries]: String(spec.calls.tries), [ENV.callTimeout]: String(spec.calls.timeoutMs) }),
  ...(stage.settings.providerFees === 'invoiced' && { [ENV.providerFees]: stage.settings.providerFees }),
  ...(stage.settings.providerCallsPerMinute !== undefined && {
    [ENV.providerCalls]: String(stage.settings.providerCallsPerMinute),
  }),
  ...(spec.trigger.kind === 'operator' &&
    stage.settings.keyLifetimeDays !== undefined && { [ENV.keyLifetime]: String(stage.settings.keyLifetimeDays) }),
  ...(stage.webhookEgress === 'nat' &&
    (spec.callsMerchants === true || spec.trigger.kind === 'operator') && { [ENV.webhookEgress]: stage.webhookEgress }),
  ...(stage.front !== 'none' && isHttp(spec) && { [ENV.front]: stage.front }),
  ...(stage.domain && isHttp(spec) && { [ENV.domain]: stage.domain.name }),
  ...(spec.payerDefaults === true && {
    [ENV.defaultReturnUrl]: stage.settings.defaultReturnUrl,
    [ENV.defaultDisplayName]: stage.settings.defaultDisplayName,
  }),
})

const rateLimitOf = (spec: FunctionSpec, stage: DeployedStage): Record<string, string> => {
  const environments = clientEnvironments(spec, stage)
  if (environments === undefined) return {}
  const { clientRateLimit, clientCreateLimit } = stage.settings
  return {
    ...(clientRateLimit !== undefined && { [ENV.clientRateLimit]: String(clientRateLimit) }),
    ...(clientCreateLimit !== undefined && { [ENV.clientCreateLimit]: String(clientCreateLimit) }),
    [ENV.environments]: String(environments),
  }
}
