import { text } from '../../support/recount/books.ts'
import { reportSituation } from '../sometimes/report-situation.ts'
import { type HttpReply, type HttpRequest, operate } from '../world/lambda.ts'
import { rowsOf } from '../world/rows.ts'
import { count } from '../world/tally.ts'
import type { Tenant } from '../world/tenants.ts'
import { http, type Scene } from './http.ts'

export async function requestOtherTenantsData(play: Scene) {
  const { world, tenants, seen } = play
  const target = world.prng.pick(tenants)
  const otherTenant = tenants.find((tenant) => tenant !== target)
  if (otherTenant === undefined) return
  const [payment] = seen.known.get(target.clientId) ?? []
  const settlement = ownId(play, target, 'SETTLEMENT')
  const delivery = ownId(play, target, 'DELIVERY')
  if (payment !== undefined) await askFor(play, otherTenant, 'api-get-payment', { id: payment })
  if (settlement !== undefined) {
    await askFor(play, otherTenant, 'api-get-settlement', { id: settlement })
    await askFor(play, otherTenant, 'api-list-settlement-payments', { id: settlement })
  }
  if (delivery !== undefined) {
    await askFor(play, otherTenant, 'api-get-webhook-delivery', { id: delivery })
    await askFor(play, otherTenant, 'api-redeliver-webhook', { id: delivery })
  }
  await askForEndpoint(play, otherTenant, target)
  const revoked = await operate(world, 'revoke-api-key', {
    client_id: otherTenant.clientId,
    key_id: target.keyId,
  })
  if (revoked?.status === 200)
    world.problems.push(`a key of ${target.clientId} was revoked as ${otherTenant.clientId}'s`)
}

function ownId({ world }: Scene, { clientId }: Tenant, kind: 'SETTLEMENT' | 'DELIVERY') {
  const own = rowsOf(world, kind, { client_id: clientId })
  return own.length === 0
    ? undefined
    : text(world.prng.pick(own), kind === 'SETTLEMENT' ? 'settlement_id' : 'delivery_id')
}

/** A request for another tenant's item is answered as if the item did not exist. */
async function askFor(play: Scene, otherTenant: Tenant, functionName: string, asked: HttpRequest) {
  const reply = await http(play, otherTenant, functionName, asked)
  count(
    play.world.tally,
    `data of another tenant requested: ${functionName} ${reply?.status ?? 'nothing'}`,
  )
  if (reply && reply.status < 300)
    play.world.problems.push(`${functionName} showed ${otherTenant.clientId} ${asked.id}`)
}

/**
 * The deliveries of another merchant's endpoint are answered like those of an endpoint that does
 * not exist.
 */
async function askForEndpoint(play: Scene, otherTenant: Tenant, target: Tenant) {
  const { prng } = play
  const { endpointId } = prng.pick(target.endpoints)
  const list = (id: string) =>
    http(play, otherTenant, 'api-list-webhook-deliveries', { query: { endpoint_id: id } })
  const [reply, unknown] = [await list(endpointId), await list(prng.uuid())]
  if (!isDecided(reply) || !isDecided(unknown)) return
  if (rowsOf(play.world, 'DELIVERY', { endpoint_id: endpointId }).length > 0)
    reportSituation(play.world, 'a merchant asks for another merchant’s deliveries')
  if (reply.status !== 404 || reply.text !== unknown.text)
    play.world.problems.push(
      `${otherTenant.clientId} asked for endpoint ${endpointId} and was answered ${reply.text}`,
    )
}

/** An answer to the question itself: no limit, no refused key, no failure. */
function isDecided(reply: HttpReply | undefined): reply is HttpReply {
  return reply !== undefined && reply.status < 500 && ![401, 429].includes(reply.status)
}
