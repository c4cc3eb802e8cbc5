import { setTimeout as sleep } from 'node:timers/promises'
import { CALLBACK_TOKEN } from '../../../infra/local/provider-simulator/simulator-keys.ts'
import { checkCallback } from '../../../infra/operate/doctor/check-provider.ts'
import { REGION } from '../emulator.ts'
import type { Merchant } from '../merchant.ts'
import { expect, type Rehearsal } from '../rehearsal.ts'
import { inTraffic } from '../traffic.ts'
import { putSecrets } from './deploy-stage.ts'

const NEW = { key: 'xnd_production_of_the_rotation', token: 'callback-token-of-the-rotation' }

/**
 * A process reads a secret again if a value does not match and its copy is over a minute old, by a
 * clock that no test moves.
 */
const ACTS_AFTER_MS = 65_000

/**
 * Rotates the provider's key and the callback token as docs/operations.md, section 4, says, while
 * payments are taken.
 */
export async function rotateSecrets(
  rehearsal: Rehearsal,
  merchant: Merchant,
  apiUrl: string,
): Promise<true> {
  const { step, world } = rehearsal
  const { dashboard } = world
  const [oldKey = ''] = dashboard.keys
  const oldToken = dashboard.token
  const traffic = (name: string, change: () => Promise<unknown>) =>
    inTraffic(rehearsal, merchant, name, change)
  const put = async () => {
    dashboard.keys = [NEW.key, oldKey]
    await putSecrets(REGION, NEW.key, [oldToken, NEW.token])
  }
  await step('a new key and a second callback token are put, in mid-traffic: nothing fails', () =>
    traffic('before-rotation', put),
  )
  const overlap = async () => {
    await sleep(ACTS_AFTER_MS)
    const both = await accepted(apiUrl, oldToken, NEW.token)
    expect(both.length === 2 && both.every(Boolean), 'a token is refused during the overlap')
    dashboard.token = NEW.token
  }
  await step(
    'a minute later both tokens are accepted, and the provider changes its own, in ' +
      'mid-traffic: nothing fails',
    () => traffic('overlap', overlap),
  )
  const takeOut = () => traffic('taken-out', () => putSecrets(REGION, NEW.key, [NEW.token]))
  await step('the old token is taken out, in mid-traffic: nothing fails', takeOut)
  return true
}

async function accepted(apiUrl: string, ...tokens: readonly string[]) {
  const found = await checkCallback({ url: `${apiUrl}/callbacks/xendit`, tokens })
  return found
    .filter(({ what }) => what.startsWith('callback with token'))
    .map(({ state }) => state === 'ok')
}

/** A process that the deployment did not replace reads again when the old key or token fails. */
export function endRotation(rehearsal: Rehearsal, merchant: Merchant, apiUrl: string) {
  const { step, world } = rehearsal
  const deleteKey = async () => {
    world.dashboard.keys = [NEW.key]
  }
  const end = async () => {
    await sleep(ACTS_AFTER_MS)
    await inTraffic(rehearsal, merchant, 'after-rotation', deleteKey)
    expect(world.dashboard.lastKey === NEW.key, 'the provider was not asked with the new key')
    const [isOld, isNew] = await accepted(apiUrl, CALLBACK_TOKEN, NEW.token)
    expect(
      isNew === true && isOld === false,
      `the old token is accepted: ${isOld}, and the new one: ${isNew}`,
    )
  }
  return step(
    'after a deployment the old key is deleted, in mid-traffic: nothing fails, the old token ' +
      'is refused',
    end,
  )
}
