import type { StoredItem } from '../../../infra/local/emulators/memory-table/stored-item.ts'
import type { Step } from '../../../shared/table/step.ts'
import type { Situations } from './report-situation.ts'

type Refused = { readonly step: Step; readonly was: StoredItem | undefined }

const itemOf = ({ step }: Refused): Readonly<Record<string, unknown>> => (step.kind === 'put' ? step.item : {})
const setBy = ({ step }: Refused) =>
  step.kind === 'update' ? { ...step.changes.set, ...step.changes.setIfAbsent } : {}
const isCommit = (refused: Refused) => refused.step.key.sk === 'PAYMENT' && itemOf(refused)['status'] === 'pending'
const compares = ({ step }: Refused, field: string, test: string) =>
  JSON.stringify(step.condition ?? {}).includes(`"test":"${test}","field":"${field}"`)

/** A condition that refuses a write. */
export const REFUSALS: Situations<Refused> = {
  'a second caller meets a live lease': [
    25,
    (refused) =>
      itemOf(refused)['status'] === 'creating' &&
      refused.was?.['status'] === 'creating' &&
      refused.was['lease_until'] !== undefined,
  ],
  'a commit is refused': [250, isCommit],
  'an attempt continues after its lease has expired': [
    1_000,
    (refused) => isCommit(refused) && Number(refused.was?.['attempt']) > Number(itemOf(refused)['attempt']),
  ],
  'a success is refused': [
    250,
    (refused) =>
      refused.step.key.sk === 'PAYMENT' &&
      refused.was?.['status'] === 'succeeded' &&
      (itemOf(refused)['status'] ?? setBy(refused)['status']) === 'succeeded',
  ],
  'a cancel is refused by an expiry that has begun': [
    250,
    (refused) => setBy(refused)['cancelRequestedAt'] !== undefined && refused.was?.['status'] === 'pending',
  ],
  'a second claim is refused': [25, (refused) => setBy(refused)['claimToken'] !== undefined],
  'a result is refused after its claim has expired': [
    250,
    (refused) => setBy(refused)['claimToken'] === undefined && compares(refused, 'claimToken', 'equals'),
  ],
  'a settlement record is refused by a concurrent one': [25, (refused) => setBy(refused)['settledUntil'] !== undefined],
  'the fence refuses an entry': [
    250,
    (refused) => refused.step.key.sk.startsWith('SHARD#') && compares(refused, 'closedUntil', 'atMost'),
  ],
}
