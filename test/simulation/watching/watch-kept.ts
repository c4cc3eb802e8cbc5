import { amount } from '../../support/books.ts'
import type { World } from '../world/world.ts'
import type { Observations } from './observations.ts'
import { type Rule, type Write, watchRules } from './rules.ts'

/** What an audit found is written onto what it has read. */
const ofVerdicts: readonly Rule<Write>[] = [
  [
    'is written over what somebody else has found',
    ({ before, after }) => after['version'] !== undefined && amount(after, 'version') !== amount(before, 'version') + 1,
  ],
  [
    'has an audit that is neither due nor done',
    ({ after }) => after['state'] !== undefined && (after['state'] === 'audited') !== (after['work'] === undefined),
  ],
  [
    'is audited a second time',
    ({ before, after }) => before['state'] === 'audited' && before['audited_at'] !== after['audited_at'],
  ],
]

/** The head of a chain of audit records, and what comes after it. */
const ofChain: readonly Rule<Write>[] = [
  ['skips a record', ({ before, after }) => amount(after, 'number') !== amount(before, 'number') + 1],
]
const ofRecord: readonly Rule<Write>[] = [
  ['is written a second time', ({ isNew }) => !isNew],
  [
    'does not follow the record before it',
    ({ written, key, after }) => {
      const head = written.find((one) => one.key.pk === `${key.pk}#HEAD`)
      return head?.after?.['number'] !== after['number'] || head?.before?.['digest'] !== after['previous']
    },
  ],
]

/** Checked at every write of what audits found, and of the chain of operators' records. */
export const watchKept = (world: World, seen: Observations): void =>
  watchRules(world, seen, ({ pk, sk }) => {
    if (pk.startsWith('VERDICT#')) return ofVerdicts
    if (!pk.startsWith('AUDIT#')) return []
    return sk === 'HEAD' ? ofChain : ofRecord
  })
