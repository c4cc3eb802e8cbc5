import * as v from 'valibot'
import { byQueue, type QueueName } from '../queues.ts'
import { DeployedSettings, type StageSettings } from '../stage-settings.ts'

/** The stack sets the environment variables by this list. */
export const ENV = {
  stage: 'GATEWAY_STAGE',
  settings: 'GATEWAY_SETTINGS',
  table: 'GATEWAY_TABLE',
  alertsTopic: 'GATEWAY_ALERTS_TOPIC_ARN',
  sealKey: 'GATEWAY_SEAL_KEY_ARN',
  providerUrl: 'GATEWAY_PROVIDER_URL',
  callTries: 'GATEWAY_CALL_TRIES',
  callTimeout: 'GATEWAY_CALL_TIMEOUT_MS',
} as const

export function queueUrlVariable(name: QueueName) {
  return `GATEWAY_${name.replaceAll('-', '_').toUpperCase()}_QUEUE_URL`
}

const FilledText = v.pipe(v.string(), v.minLength(1))
const Url = v.pipe(v.string(), v.url())
const Count = v.optional(v.pipe(v.string(), v.regex(/^[1-9]\d{0,6}$/), v.transform(Number)))

/** A misspelt setting must stop the function, and must not open the stage. */
export const SettingsText = v.pipe(v.optional(v.string(), '{}'), v.parseJson(), DeployedSettings)

/** Throws at start and names the invalid variable. */
export function readConfig(environment: Readonly<Record<string, string | undefined>>) {
  const readVariable = <const Schema extends v.GenericSchema>(
    name: string,
    schema: Schema,
  ): v.InferOutput<Schema> => {
    const { success, output, issues } = v.safeParse(schema, environment[name])
    if (success) return output
    throw new Error(`${name}: ${issues[0].message}`)
  }
  const stage: StageSettings = {
    ...readVariable(ENV.settings, SettingsText),
    name: readVariable(ENV.stage, v.pipe(v.string(), v.regex(/^[a-z0-9-]{1,20}$/))),
    // Only the local gateway allows loopback webhooks.
    allowLoopbackWebhooks: false,
  }
  const tries = readVariable(ENV.callTries, Count)
  const timeoutMs = readVariable(ENV.callTimeout, Count)
  return {
    stage,
    tableName: readVariable(ENV.table, FilledText),
    calls: tries === undefined || timeoutMs === undefined ? undefined : { tries, timeoutMs },
    queueUrls: byQueue((name) => readVariable(queueUrlVariable(name), v.optional(Url))),
    alertsTopicArn: readVariable(ENV.alertsTopic, v.optional(v.string())),
    sealKeyArn: readVariable(ENV.sealKey, v.optional(FilledText)),
    providerUrl: readVariable(ENV.providerUrl, v.optional(Url)),
  }
}
