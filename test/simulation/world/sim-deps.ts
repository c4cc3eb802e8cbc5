import type { Deps } from '../../../shared/deps.ts'
import { loggedProvider } from '../../../shared/provider/logged-provider.ts'
import { chosenProvider } from '../../../shared/runtime/chosen-provider.ts'
import { timestampOf } from '../../../shared/time.ts'
import { assembledDeps } from '../../support/assembled-deps.ts'
import type { Process } from './process.ts'
import { providerNetwork } from './provider-network.ts'
import { faultyRequests } from './table-faults.ts'
import { count } from './tally.ts'
import { hasFault, noteFault, queuesDownUntilMs, SIM_STAGE, trace, type World } from './world.ts'

/** Each call is an await at which the process can die. */
export function simDeps(world: World, process: () => Process, monotonicMs = world.scheduler.nowMs) {
  const prng = world.prng.fork()
  const log = simLog(world, process)
  const worstMs = Math.floor(world.faults.clockSkewMs)
  const skewMs = worstMs === 0 ? 0 : prng.int(-worstMs, worstMs)
  if (worstMs > 0) count(world.tally, 'fault clockSkewMs')
  return assembledDeps({
    stage: {
      name: SIM_STAGE,
      providerFees: world.providerFees,
      providerCallsPerMinute: world.callsPerMinute,
      historySteps: world.historySteps,
      pushLimit: world.pushLimit,
      // As many environments as answer a flood.
      environments: 8,
    },
    requests: faultyRequests(world, process),
    log,
    now: () => timestampOf(world.scheduler.nowMs() + skewMs),
    realNowMs: () => world.scheduler.nowMs() + skewMs,
    sleep: (ms) => process().sleep(ms),
    random: prng.next,
    provider: loggedProvider(
      chosenProvider({
        baseUrl: 'https://provider.example',
        stage: SIM_STAGE,
        nowMs: world.scheduler.nowMs,
        // Cached on AWS; a crash while reading it has effects of its own only at the call after it.
        secrets: { get: async (name) => world.secrets.get(name) },
        call: providerNetwork(world, process),
      }),
      { log, monotonicMs },
    ),
    queues: simQueues(world, process),
    alerts: {
      publish: (alert) =>
        process().call('publish alert', () => {
          const isDown = world.scheduler.nowMs() < world.topicDownUntilMs
          if (isDown || hasFault(world, 'alertFails')) {
            world.alertFailedAtMs = world.scheduler.nowMs()
            throw new Error('the topic cannot be reached')
          }
          world.alerts.push({ atMs: world.scheduler.nowMs(), ...alert })
          for (const listen of world.onAlerted) listen(alert, process())
        }),
    },
    secrets: { get: (name) => process().call('get secret', () => world.secrets.get(name)) },
    sealer: simSealer(world, process),
    sendWebhook: (request) => {
      for (const listen of world.onPost) listen(request, process())
      const { arrive, durationMs } = world.merchants.plan(
        request,
        world.faults,
        world.scheduler.nowMs(),
      )
      return process().call('POST webhook', () => arrive(world.scheduler.nowMs()), durationMs)
    },
    resolveHost: () =>
      process().call('resolve host', () => [{ address: '93.184.216.34', family: 4 }]),
    monotonicMs,
    newId: prng.uuid,
    randomBytes: prng.bytes,
  })
}

function simLog(world: World, process: () => Process) {
  const line =
    (level: string) =>
    (code: string, fields: object = {}, cause?: unknown) => {
      count(world.tally, `log ${code}`)
      const text = JSON.stringify({ level, code, ...fields })
      if (cause !== undefined) for (const listen of world.onError) listen(process(), cause)
      world.logLines.push(text)
      trace(world, () => `  ${text}${cause instanceof Error ? ` ${cause.message}` : ''}`)
    }
  return { info: line('info'), warn: line('warn'), error: line('error') }
}

function simQueues(world: World, process: () => Process): Deps['queues'] {
  return {
    send: async (queue, ...messages) => {
      for (const message of messages) {
        await process().call(`send to ${queue}`, () => {
          const isDown = queuesDownUntilMs(world) > world.scheduler.nowMs()
          if (isDown) noteFault(world, 'queuesDown')
          if (isDown || hasFault(world, 'queueSendFails'))
            throw new Error('the queue cannot be reached')
          world.queues[queue].send({
            ...message,
            body: JSON.stringify(message.body),
            nowMs: world.scheduler.nowMs(),
          })
          for (const listen of world.onSent) listen(queue, message, process())
        })
      }
    },
  }
}

/** The length of a signing secret that KMS encrypted, in base64. */
const SEALED_LENGTH = 272

function simSealer(world: World, process: () => Process): Deps['sealer'] {
  return {
    seal: (secret, { clientId, endpointId }) =>
      process().call('seal', () => {
        const sealed = `sealed-${world.seals.size}`.padEnd(SEALED_LENGTH, '=')
        world.seals.set(sealed, { secret, clientId, endpointId })
        return sealed
      }),
    unseal: (sealed, owner) =>
      process().call('unseal', () => {
        if (hasFault(world, 'unsealFails')) throw new Error('the key cannot be used')
        const seal = world.seals.get(sealed)
        return seal?.clientId === owner.clientId && seal.endpointId === owner.endpointId
          ? seal.secret
          : undefined
      }),
  }
}
