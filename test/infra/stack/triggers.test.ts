import { describe, expect, it } from 'vitest'
import {
  DAILY_TIMES,
  type FunctionSpec,
  functionName,
  type QueueSource,
  type Trigger,
} from '../../../functions/function-spec.ts'
import { MANIFEST } from '../../../functions/manifest.ts'
import { synthesised } from '../../support/stack-template.ts'
import { OTHER_FIGURES, stageWith } from '../../support/stage-options.ts'

const template = synthesised('dev')

const triggeredBy = <Kind extends Trigger['kind']>(kind: Kind) =>
  MANIFEST.flatMap((spec) =>
    isKind(spec.trigger, kind) ? [{ spec, trigger: spec.trigger, name: functionName('dev', spec) }] : [],
  )
const isKind = <Kind extends Trigger['kind']>(
  trigger: FunctionSpec['trigger'],
  kind: Kind,
): trigger is Extract<Trigger, { readonly kind: Kind }> => trigger.kind === kind

const invokedBy = (principal: string) =>
  template
    .all('AWS::Lambda::Permission')
    .filter(({ Principal }) => Principal === principal)
    .map(({ FunctionName }) => String(FunctionName))
    .toSorted()

const API_GATEWAY_TIMEOUT_SECONDS = 29

describe('a closed stage', () => {
  const closed = synthesised(stageWith({ role: 'closed' }))

  it('starts nothing by queue or clock, and tells every function', () => {
    expect(new Set(closed.each('AWS::Lambda::EventSourceMapping', 'Enabled'))).toStrictEqual(new Set([false]))
    expect(new Set(closed.each('AWS::Events::Rule', 'State'))).toStrictEqual(new Set(['DISABLED']))
    const told = closed
      .all('AWS::Lambda::Function')
      .filter(({ Environment }) => JSON.stringify(Environment).includes('"GATEWAY_ROLE":"closed"'))
    expect(told).toHaveLength(MANIFEST.length)
  })

  it('is not deployed with canaries, which would take it back', () => {
    expect(() => synthesised(stageWith({ role: 'closed' }, 'prod'))).toThrow('deploy it with deployment: alias-only')
  })
})

describe('HTTP API', () => {
  const routes = template.all('AWS::ApiGatewayV2::Route')
  const integrations = new Map(
    template.ofType('AWS::ApiGatewayV2::Integration').map(({ logicalId, properties }) => [logicalId, properties]),
  )

  it('has one route for each HTTP trigger of the manifest, and $default for the rest', () => {
    const byRoute = routes.map(({ RouteKey, Target }) => [
      RouteKey,
      integrations.get(String(Target).replace(/^integrations\/<(.*)>$/, '$1'))?.['IntegrationUri'],
    ])

    expect(Object.fromEntries(byRoute)).toStrictEqual(
      Object.fromEntries([
        ...triggeredBy('http').map(({ trigger, name }) => [`${trigger.method} ${trigger.path}`, `<${name}>.Arn`]),
        ['$default', '<gateway-dev-api-not-found>.Arn'],
      ]),
    )
    expect(routes).toHaveLength(triggeredBy('http').length + 1)
  })

  it('outlasts every function it calls, so that the answer is always ours', () => {
    const timeouts = [...triggeredBy('http'), ...triggeredBy('http-default')].map(({ spec }) => spec.timeoutSeconds)

    expect(Math.max(...timeouts)).toBeLessThan(API_GATEWAY_TIMEOUT_SECONDS)
    for (const integration of integrations.values()) {
      expect(integration).toMatchObject({
        IntegrationType: 'AWS_PROXY',
        PayloadFormatVersion: '2.0',
        TimeoutInMillis: API_GATEWAY_TIMEOUT_SECONDS * 1000,
      })
    }
  })

  it('may invoke exactly the functions it routes to', () => {
    const routed = [...triggeredBy('http'), ...triggeredBy('http-default')].map(({ name }) => `<${name}>.Arn`)

    expect(invokedBy('apigateway.amazonaws.com')).toStrictEqual(routed.toSorted())
  })
})

describe('event sources', () => {
  it('connect each queue trigger to its queue, and to that of its slow lane with few runs of its own, failing messages one by one and in bounded number', () => {
    const source = (name: string, { queue, batchSize, maxConcurrency }: QueueSource) => ({
      FunctionName: `<${name}>`,
      EventSourceArn: `<gateway-dev-${queue}>.Arn`,
      BatchSize: batchSize,
      Enabled: true,
      FunctionResponseTypes: ['ReportBatchItemFailures'],
      ScalingConfig: { MaximumConcurrency: maxConcurrency },
    })
    const slow = { queue: 'webhooks-slow', batchSize: 10, maxConcurrency: 5 } as const
    const expected = triggeredBy('queue').flatMap(({ trigger, name }) => [
      source(name, trigger),
      ...(trigger.queue === 'webhooks' ? [source(name, slow)] : []),
    ])

    expect(template.all('AWS::Lambda::EventSourceMapping')).toStrictEqual(expected)
  })
})

/** EventBridge's words for a rate, in the largest unit that divides it. */
const rate = (minutes: number): string => {
  const [count, unit] = minutes % 60 === 0 ? [minutes / 60, 'hour'] : [minutes, 'minute']
  return `rate(${count} ${unit}${count === 1 ? '' : 's'})`
}

describe('schedules', () => {
  it('start each scheduled function at its time, without retries, setting aside what comes late', () => {
    const expected = triggeredBy('schedule').map(({ trigger: { schedule }, name }) => ({
      Name: name,
      ScheduleExpression:
        'everyMinutes' in schedule
          ? rate(schedule.everyMinutes)
          : `cron(0 ${DAILY_TIMES[schedule.dailyAt].hour} * * ? *)`,
      State: 'ENABLED',
      Targets: [
        {
          Arn: `<${name}>.Arn`,
          Id: 'Target0',
          RetryPolicy: { MaximumRetryAttempts: 0, MaximumEventAgeInSeconds: schedule.maxEventAgeSeconds },
          DeadLetterConfig: { Arn: '<gateway-dev-schedules-dead>.Arn' },
        },
      ],
    }))

    expect(template.all('AWS::Events::Rule')).toStrictEqual(expected)
    expect(invokedBy('events.amazonaws.com')).toStrictEqual(
      triggeredBy('schedule')
        .map(({ name }) => `<${name}>.Arn`)
        .toSorted(),
    )
  })

  it('are not repeated by Lambda either, which sets a failed run aside', () => {
    expect(template.all('AWS::Lambda::EventInvokeConfig')).toStrictEqual(
      triggeredBy('schedule').map(({ trigger: { schedule }, name }) => ({
        FunctionName: `<${name}>`,
        Qualifier: '$LATEST',
        MaximumRetryAttempts: 0,
        MaximumEventAgeInSeconds: schedule.maxEventAgeSeconds,
        DestinationConfig: { OnFailure: { Destination: '<gateway-dev-schedules-dead>.Arn' } },
      })),
    )
  })

  it('sweep at the time the stage has set', () => {
    const expressions = synthesised(OTHER_FIGURES).each('AWS::Events::Rule', 'ScheduleExpression')

    expect(expressions).toContain('cron(30 17 * * ? *)')
    expect(expressions).not.toContain('cron(0 2 * * ? *)')
  })
})
