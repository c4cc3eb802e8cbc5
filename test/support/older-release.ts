import type { ClientId } from '../../shared/ids.ts'
import { windowKey } from '../../shared/table/keys.ts'
import { putRaw, rawItem } from './tampering.ts'
import type { TestDeps } from './test-deps.ts'

/** What releases before the figures of payouts know nothing of. */
const FIGURES = ['in_settlement_minor', 'paid_out_minor', 'open_ids', 'payouts_counted']

const isFigure = ([name]: readonly [string, unknown]) => FIGURES.includes(name)

/** Makes the client's window one that an older release wrote. */
export const forgetPayouts = async (deps: TestDeps, clientId: ClientId): Promise<void> => {
  const window = await rawItem(deps, windowKey(clientId))
  await putRaw(deps, Object.fromEntries(Object.entries(window).filter((entry) => !isFigure(entry))))
}

/** Functions of an older release, in a canary or after a rollback: they leave the figures of payouts as they are. */
export const byOlderRelease = async <Result>(
  deps: TestDeps,
  clientId: ClientId,
  run: () => Promise<Result>,
): Promise<Result> => {
  const figures = Object.entries(await rawItem(deps, windowKey(clientId))).filter(isFigure)
  try {
    return await run()
  } finally {
    await forgetPayouts(deps, clientId)
    await putRaw(deps, { ...(await rawItem(deps, windowKey(clientId))), ...Object.fromEntries(figures) })
  }
}
