import { askedFor } from '../watching/observations.ts'
import { invoke } from '../world/lambda.ts'
import type { Process } from '../world/process.ts'
import type { Play } from './operations.ts'

/** What nobody does twice by mistake without having made two of it. */
const MAKES = [
  'create-client',
  'issue-api-key',
  'register-endpoint',
  'update-client',
  'update-endpoint',
  'delete-endpoint',
]

/**
 * While a write stands on its way, whatever led to it comes a second time: the merchant tries again, the operator presses
 * twice, a message, a record or a schedule comes twice. So two are at the same work, and the first writes last.
 */
export const doTwice = (play: Play): void => {
  const { world } = play
  const events = new WeakMap<Process, unknown>()
  let isSecond = false

  world.onStarted.push((process, event) => {
    if (!isSecond && !MAKES.includes(process.name)) events.set(process, event)
  })

  world.onOvertaken.push((process) => {
    const { name } = process
    const event = world.oddities.chance(0.5) ? events.get(process) : undefined
    // A third time would prove no more.
    events.delete(process)
    if (event === undefined) return
    const headers = Object(Object(event).headers)
    // Of a flood it is known what of it passed, request by request.
    if (String(headers['idempotency-key']).startsWith('flood-')) return
    // Perhaps by a key that is no longer its own.
    const tenant = play.tenants.find(({ clientId }) => String(headers.authorization).includes(`_${clientId}_`))
    if (tenant)
      play.seen.asked.push(askedFor(world, tenant, name, { query: Object(event).queryStringParameters ?? {} }))
    isSecond = true
    void invoke(world, name, event)
    isSecond = false
  })
}
