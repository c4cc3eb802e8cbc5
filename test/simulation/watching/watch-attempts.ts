import { text } from '../../support/recount/books.ts'
import type { Process } from '../world/process.ts'
import { deliveryRow } from '../world/rows.ts'
import { isChanged, ms, onGoodEnd, onWorkersWrite, type States, watchClocks } from '../world/rules.ts'
import type { World } from '../world/world.ts'
import { isOn } from './watch-endpoints.ts'

type Claim = { readonly token: unknown; readonly untilMs: number; hasPosted: boolean }

/** Clocks differ by at most 20 s. A worker makes a few calls between its read of an endpoint and its POST. */
const NEAR_MS = 60_000

/**
 * Checked at every POST, and at the end of every worker: an attempt is posted once, by its claimer, under a valid claim,
 * to an enabled endpoint.
 */
export const watchAttempts = (world: World, { since }: States): void => {
  const apartMs = watchClocks(world)
  /** The last claim that each worker made, by delivery. For others it may have expired. */
  const owned = new WeakMap<Process, Map<string, Claim>>()
  const report = (id: string, what: string) => void world.problems.push(`delivery ${id} ${what}`)

  onWorkersWrite(world, / DELIVERY$/, (write) => {
    const { after, worker } = write
    const { claim_token: token, delivery_id: id } = after
    if (token === undefined || !isChanged(write, 'claim_token')) return
    const claims = owned.get(worker) ?? new Map<string, Claim>()
    owned.set(worker, claims.set(String(id), { token, untilMs: ms(after, 'claimed_until'), hasPosted: false }))
  })

  world.onPost.push(({ headers }, worker) => {
    const id = headers['X-Gateway-Delivery-Id'] ?? ''
    const [row, nowMs] = [deliveryRow(world, id), world.scheduler.nowMs()]
    if (!since(text(row ?? {}, 'endpoint_id'), nowMs - NEAR_MS).some(isOn))
      report(id, 'is posted to an endpoint that was disabled or deleted a while ago')
    const claim = owned.get(worker)?.get(id)
    if (claim === undefined) return report(id, 'is posted by a worker without a claim')
    if (claim.token !== row?.['claim_token'] && nowMs < claim.untilMs - apartMs())
      report(id, 'is posted under a claim that another worker has replaced')
    if (claim.hasPosted) report(id, 'is posted twice under one claim')
    if (claim.untilMs < nowMs - apartMs()) report(id, 'is posted after the end of its claim')
    claim.hasPosted = true
  })

  onGoodEnd(world, (process) => {
    for (const [id, { token }] of owned.get(process) ?? [])
      if (deliveryRow(world, id)?.['claim_token'] === token) report(id, 'stays claimed after its worker ended')
  })
}
