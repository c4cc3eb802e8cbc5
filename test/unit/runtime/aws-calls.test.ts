import {
  GetSecretValueCommand,
  ResourceNotFoundException,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager'
import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { SendMessageBatchCommand, SQSClient } from '@aws-sdk/client-sqs'
import { mockClient } from 'aws-sdk-client-mock'
import * as v from 'valibot'
import { afterAll, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { localAws } from '../../../infra/local/emulators/local-aws.ts'
import { MinorSchema } from '../../../shared/money.ts'
import { byQueue } from '../../../shared/queues.ts'
import { AWS_HTTP_OPTIONS } from '../../../shared/runtime/aws/client-options.ts'
import { secretsManager } from '../../../shared/runtime/aws/kept-secrets.ts'
import { snsAlerts, sqsQueues } from '../../../shared/runtime/aws/sent-messages.ts'
import { ENV, queueUrlVariable } from '../../../shared/runtime/config.ts'
import { defaultProvider } from '../../../shared/runtime/env-credentials.ts'
import { runtimeDeps } from '../../../shared/runtime/runtime-deps.ts'
import { equals, update } from '../../../shared/table/step.ts'
import { eventually } from '../../support/eventually.ts'
import { NEVER_MS } from '../../support/patience.ts'
import { json, type Script, silence, startScriptedServer } from '../../support/scripted-server.ts'

const STAGE = { [ENV.stage]: 'dev', [ENV.table]: 'gateway-dev' }
const KEYS = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' }

type Env = Readonly<Record<string, string | undefined>>

function stubAll(environment: Env) {
  for (const [name, value] of Object.entries(environment)) vi.stubEnv(name, value)
}

async function depsWith(script: Script, timeoutMs: number) {
  const { url } = await startScriptedServer(script)
  stubAll({
    ...STAGE,
    [ENV.callTries]: '2',
    [ENV.callTimeout]: String(timeoutMs),
    [queueUrlVariable('audits')]: `${url}/audits`,
    AWS_ENDPOINT_URL: url,
    AWS_REGION: 'ap-southeast-3',
    ...KEYS,
  })
  return runtimeDeps()
}

const KEY = { pk: 'PAYMENT#1', sk: 'PAYMENT' }

it('an unsafe number keeps its digits in JSON and in conditions, and is no amount', async () => {
  const N = '90071992547409931'
  let sent = ''
  const { table } = await depsWith((response, request) => {
    sent = request.body
    return json(200, { Item: { net_minor: { N } } })(response, request)
  }, 90_000)

  const item = await table.get(KEY)

  expect(JSON.stringify(item)).toContain(N)
  expect(v.is(MinorSchema, item?.['netMinor'])).toBe(false)
  await table.write(update(KEY, { set: { at: 1 } }, equals('netMinor', item?.['netMinor'])))
  expect(sent).toContain(JSON.stringify({ N }))
})

it.each<[string, Script]>([
  ['is silent', silence],
  ['stops mid-answer', (response) => void response.writeHead(200).write('{')],
])(
  'a function with limits ends calls to a table or queue that %s after its tries and timeouts',
  async (_, script) => {
    const deps = await depsWith(script, 40)

    const hung = { message: expect.stringContaining('40 ms') as string, $metadata: { attempts: 2 } }
    await expect(deps.table.get(KEY)).rejects.toMatchObject(hung)
    await expect(deps.queues.send('audits', message(0))).rejects.toMatchObject(hung)
  },
)

const manager = mockClient(SecretsManagerClient)

beforeEach(() => void manager.reset())
afterAll(() => manager.restore())

describe('secrets in Secrets Manager', () => {
  it.each([
    ['half an hour', undefined, 1_800_000],
    ['a minute where the value does not fit', 'fresh', 60_000],
  ] as const)(
    'are read again after %s, by a wall clock that may be set back, and not before',
    async (_case, fresh, keptMs) => {
      const answers = manager.on(GetSecretValueCommand).resolvesOnce({ SecretString: 'old' })
      answers.resolvesOnce({ SecretString: 'new' }).resolves({ SecretString: 'newest' })
      stubAll(STAGE)
      // The monotonic clock of a frozen environment stands still.
      vi.spyOn(performance, 'now').mockReturnValue(0)
      const clock = vi.spyOn(Date, 'now')
      const { secrets } = runtimeDeps()

      const seen = []
      for (const nowMs of [0, keptMs - 1, keptMs, 0]) {
        clock.mockReturnValue(nowMs)
        seen.push(await secrets.get('s', fresh))
      }

      expect(seen).toStrictEqual(['old', 'old', 'new', 'newest'])
    },
  )

  it('are read again while missing or unreadable', async () => {
    const missing = new ResourceNotFoundException({ message: 'no', $metadata: {} })
    const answers = manager.on(GetSecretValueCommand).rejectsOnce(missing).resolvesOnce({})
    answers.rejectsOnce('down').resolves({ SecretString: 'value' })
    const secrets = secretsManager(new SecretsManagerClient({}), () => 0)

    for (const seen of [undefined, undefined, 'Error: down', 'value', 'value'])
      expect(await secrets.get('s').catch(String)).toBe(seen)
    expect(manager.commandCalls(GetSecretValueCommand)).toHaveLength(4)
  })
})

function message(number: number) {
  return { body: { number }, delaySeconds: number, group: `group-${number}` }
}
function messages(count: number) {
  return Array.from({ length: count }, (_, at) => message(at))
}
const URL = 'https://sqs.example/webhooks'

function startQueues() {
  const client = new SQSClient({ region: 'ap-southeast-3' })
  const sqs = mockClient(client)
  const queues = sqsQueues(client, { ...byQueue(() => undefined), webhooks: URL, audits: URL })
  const batches = () =>
    sqs.commandCalls(SendMessageBatchCommand).map(({ args: [{ input }] }) => input)
  return { sqs, queues, batches }
}

describe('messages on their way to SQS', () => {
  it('go together, ten at a time, each with its delay and its group', async () => {
    const { sqs, queues, batches } = startQueues()
    sqs.on(SendMessageBatchCommand).resolves({})

    await queues.send('webhooks', ...messages(13))
    await queues.send('webhooks')

    const entries = Array.from({ length: 13 }, (_, at) => ({
      Id: String(at % 10),
      MessageBody: `{"number":${at}}`,
      DelaySeconds: at,
      MessageGroupId: `group-${at}`,
    }))
    const sent = [entries.slice(0, 10), entries.slice(10)]
    expect(batches()).toStrictEqual(sent.map((Entries) => ({ QueueUrl: URL, Entries })))
  })

  it('wait a second at most for a queue of webhooks, and without a limit for other queues', async () => {
    const { sqs, queues } = startQueues()
    sqs.on(SendMessageBatchCommand).resolves({})
    const timeout = vi.spyOn(AbortSignal, 'timeout')

    await queues.send('webhooks', message(1))
    await queues.send('audits', message(2))

    expect(timeout).toHaveBeenCalledExactlyOnceWith(1_000)
    const signals = sqs
      .commandCalls(SendMessageBatchCommand)
      .map(({ args }) => Object(Array.from(args)[1]).abortSignal)
    expect(signals).toStrictEqual([timeout.mock.results[0]?.value, undefined])
  })

  const refused = { Id: '1', Code: 'InternalError', SenderFault: false }

  it.each([
    [
      'is answered with 200 and refused in part',
      async () => ({ Successful: [], Failed: [refused] }),
      '1 of 10 messages were not accepted',
    ],
    ['has no answer', () => Promise.reject(new Error('no answer')), 'no answer'],
  ])(
    'are all sent although the first batch %s, and the failure is thrown',
    async (_, first, reason) => {
      const { sqs, queues, batches } = startQueues()
      sqs.on(SendMessageBatchCommand).callsFakeOnce(first).resolves({})

      await expect(queues.send('webhooks', ...messages(25))).rejects.toThrow(reason)

      expect(batches().map(({ Entries = [] }) => Entries.length)).toStrictEqual([10, 10, 5])
    },
  )

  it.each([
    ['a queue that the function may not use', 'settlements', message(0)],
    ['a delay beyond fifteen minutes', 'webhooks', message(901)],
  ] as const)('are refused before anything is sent: %s', async (_, queue, second) => {
    const { sqs, queues } = startQueues()

    await expect(queues.send(queue, message(0), second)).rejects.toThrow()

    expect(sqs.calls()).toStrictEqual([])
  })
})

const ALERT = { kind: 'suspense.money', subject: 'py-1', message: 'held' } as const
const TOPIC = 'arn:aws:sns:ap-southeast-3:111122223333:alerts'

describe('alerts', () => {
  const mocked = () => {
    const sns = mockClient(SNSClient)
    onTestFinished(() => sns.restore())
    const published = () => sns.commandCalls(PublishCommand).map(({ args: [{ input }] }) => input)
    return {
      topic: sns.on(PublishCommand),
      published,
      alerts: snsAlerts(new SNSClient({}), TOPIC, () => 0),
    }
  }

  it('go out as JSON, with a subject that people can read', async () => {
    const { published, alerts } = mocked()

    await alerts.publish(ALERT)

    const Message = JSON.stringify(ALERT)
    const sent = { TopicArn: TOPIC, Subject: 'suspense.money: py-1', Message }
    expect(published()).toStrictEqual([sent])
    await alerts.publish({ ...ALERT, subject: 'x'.repeat(200) })
    expect(published()[1]?.Subject).toBe(`suspense.money: ${'x'.repeat(83)}`)
  })

  it('are refused where the manifest grants none', () => {
    stubAll({ ...STAGE, WITHHOLD_ALERTS: '1' })

    expect(() => runtimeDeps().alerts.publish(ALERT)).toThrow('this function no alerts')
  })

  it('are each sent although the topic refuses them, because a refusal costs no time', async () => {
    const { topic, published, alerts } = mocked()
    topic.rejects(new Error('refused'))

    for (const tries of [1, 2]) {
      await expect(alerts.publish(ALERT)).rejects.toThrow('refused')
      expect(published()).toHaveLength(tries)
    }
  })

  it('to a topic that hangs end after two seconds for all tries, and do not wait again for half a minute back or forth', async () => {
    const { url, requests } = await startScriptedServer(silence)
    const requestHandler = {
      ...AWS_HTTP_OPTIONS,
      connectionTimeout: NEVER_MS,
      requestTimeout: NEVER_MS,
    }
    const client = new SNSClient({ ...localAws(url), requestHandler, maxAttempts: 3 })
    const time = { ms: 0 }
    const alerts = snsAlerts(client, TOPIC, () => time.ms)
    const deadline = new AbortController()
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(deadline.signal)

    const publishing = alerts.publish(ALERT)
    await eventually(() => expect(requests).toHaveLength(1))
    deadline.abort()
    await expect(publishing).rejects.toThrow('aborted')
    expect(requests).toHaveLength(1)
    expect(timeout).toHaveBeenCalledExactlyOnceWith(2_000)

    time.ms = 29_999
    await expect(alerts.publish(ALERT)).rejects.toThrow('timed out less than 30 seconds ago')
    expect(timeout).toHaveBeenCalledOnce()

    for (time.ms of [30_000, 0]) await expect(alerts.publish(ALERT)).rejects.toThrow('aborted')
    expect(timeout).toHaveBeenCalledTimes(3)
  })
})

function credentialsOf(changes: Env) {
  stubAll({ ...KEYS, AWS_SESSION_TOKEN: undefined, ...changes })
  return defaultProvider()()
}

describe('credentials of a bundled function', () => {
  // AWS refuses a role's credentials without a session token; DynamoDB Local needs no token.
  it.each([{ sessionToken: 'token' }, {}])('are those of the environment: %j', async (session) => {
    const credentials = await credentialsOf({ AWS_SESSION_TOKEN: session.sessionToken })

    expect(credentials).toStrictEqual({ accessKeyId: 'id', secretAccessKey: 'secret', ...session })
  })

  it.each(['AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'])(
    'are refused without %s, and not quoted',
    async (missing) => {
      await expect(credentialsOf({ [missing]: undefined })).rejects.toThrow(
        /^the environment has no AWS credentials$/,
      )
    },
  )
})
