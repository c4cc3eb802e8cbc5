import { count } from '../world/tally.ts'
import { http } from './http.ts'
import type { Scene } from './scene.ts'

type Shown = { readonly id: string; readonly status: string }

/** A merchant looks at its deliveries and has one sent again; nobody else may look at it. */
export const redeliverOwn = async (play: Scene): Promise<void> => {
  const { world, tenants, seen } = play
  const tenant = world.prng.pick(tenants)
  const listed = await http(play, tenant, 'api-list-webhook-deliveries', { query: { per_page: '5' } })
  const shown = (listed?.body['data'] ?? []) as readonly Shown[]
  if (shown.length === 0) return
  const { id } = world.prng.pick(shown)
  const begun = await http(play, tenant, 'api-redeliver-webhook', { id })
  count(world.tally, `redelivery answered ${begun?.status ?? 'nothing'}`)
  if (begun?.status === 200 && begun.body['status'] !== 'scheduled')
    seen.problems.push(`a round of ${id} was begun as ${String(begun.body['status'])}`)
  const stranger = tenants.find(({ clientId }) => clientId !== tenant.clientId)
  if (!stranger) return
  for (const name of ['api-get-webhook-delivery', 'api-redeliver-webhook']) {
    const answered = await http(play, stranger, name, { id })
    if (answered?.status === 200) seen.problems.push(`${stranger.clientId} was shown ${id} by ${name}`)
  }
}
