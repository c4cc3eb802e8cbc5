import { PublishCommand, SNSClient } from '@aws-sdk/client-sns'
import { mockClient } from 'aws-sdk-client-mock'
import { describe, expect, it, onTestFinished } from 'vitest'
import { AWS_HTTP_OPTIONS } from '../../../shared/runtime/aws/client-options.ts'
import { snsAlerts } from '../../../shared/runtime/aws/sent-messages.ts'
import { silence, startScriptedServer } from '../../support/scripted-server.ts'

const ALERT = { kind: 'suspense.money', subject: 'py-1', message: 'held' } as const
const TOPIC = 'arn:aws:sns:ap-southeast-3:111122223333:alerts'

describe('alerts while the topic hangs', () => {
  /** On a clock that advances only when a test moves it. */
  const hangingTopic = async () => {
    const { url, requests } = await startScriptedServer(silence)
    const client = new SNSClient({
      endpoint: url,
      region: 'ap-southeast-3',
      credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
      requestHandler: AWS_HTTP_OPTIONS,
      maxAttempts: 3,
    })
    const time = { ms: 0 }
    return { requests, time, alerts: snsAlerts(client, TOPIC, () => time.ms) }
  }

  it('end after two seconds for all tries, and do not wait again for half a minute', async () => {
    const { requests, time, alerts } = await hangingTopic()
    const startedMs = performance.now()
    await expect(alerts.publish(ALERT)).rejects.toThrow()
    expect(performance.now() - startedMs).toBeLessThan(2_900)
    const asked = requests.length

    time.ms = 29_999
    await expect(alerts.publish(ALERT)).rejects.toThrow('timed out less than 30 seconds ago')
    expect(requests).toHaveLength(asked)

    time.ms = 30_000
    await expect(alerts.publish(ALERT)).rejects.not.toThrow('timed out less than 30 seconds ago')
    expect(requests.length).toBeGreaterThan(asked)
  })
})

describe('alerts', () => {
  const mocked = () => {
    const sns = mockClient(SNSClient)
    onTestFinished(() => sns.restore())
    const published = () => sns.commandCalls(PublishCommand).map(({ args: [{ input }] }) => input)
    return { topic: sns.on(PublishCommand), published, alerts: snsAlerts(new SNSClient({}), TOPIC, () => 0) }
  }

  it('go out as JSON, with a subject that people can read', async () => {
    const { topic, published, alerts } = mocked()
    topic.resolves({})

    await alerts.publish(ALERT)

    expect(published()).toStrictEqual([
      { TopicArn: TOPIC, Subject: 'suspense.money: py-1', Message: JSON.stringify(ALERT) },
    ])
  })

  it('are tried each by itself when the topic answers with a refusal, which costs no time', async () => {
    const { topic, published, alerts } = mocked()
    topic.rejects(new Error('refused'))

    for (const tries of [1, 2]) {
      await expect(alerts.publish(ALERT)).rejects.toThrow('refused')
      expect(published()).toHaveLength(tries)
    }
  })
})
