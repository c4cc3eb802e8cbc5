import type { StoreDeps } from '../../deps.ts'
import { ifValid } from '../../if-valid.ts'
import { headRow } from '../../sync/head-store.ts'
import { HeadSchema } from '../../sync/job-store.ts'
import { syncJobKey, verdictKey } from '../../table/keys.ts'
import { addMs, DAY_MS, dayNumber, MINUTE_MS, type Timestamp } from '../../time.ts'
import { brokenRules, unreadableRow } from '../../verdict/difference.ts'
import { VerdictSchema } from '../../verdict/verdict-store.ts'
import { rowDifferences } from '../rows/row-differences.ts'

/*
 * Rows in which background work keeps how far it has come. The work moves them by a rule, and the
 * gate and the next round believe them.
 */

const SKEW_MS = MINUTE_MS
const LIFE = 'between the birth of its client and now'

/**
 * A verdict, before this audit writes it again; a lost one is only written. `bornAt`: of the client
 * whose creation wrote it; the gateway's first audit or its restore writes the gateway's.
 */
export async function auditVerdict(deps: StoreDeps, owner: string, bornAt: Timestamp | undefined) {
  const item = await deps.table.get(verdictKey(owner))
  if (item === undefined) return []
  const verdict = ifValid(VerdictSchema, item)
  if (verdict === undefined) return unreadableRow('verdict', owner)
  const { version = 0, figuresAt, historyDay, progress } = verdict
  const latestAt = addMs(deps.now(), SKEW_MS)
  const isAudited = bornAt !== undefined || version !== 0 || figuresAt !== undefined
  // The first audit of the gateway may be under way.
  const isFirst = bornAt === undefined && progress !== undefined
  return brokenRules('verdict', owner, [
    ['version', !isAudited || version > 0, 'one more with each audit', version],
    [
      'figures_at',
      figuresAt === undefined
        ? !isAudited || isFirst
        : figuresAt <= latestAt && figuresAt >= addMs(bornAt ?? figuresAt, -SKEW_MS),
      LIFE,
      figuresAt,
    ],
    [
      'history_day',
      bornAt === undefined ||
        (historyDay !== undefined &&
          historyDay >= dayNumber(bornAt) &&
          historyDay <= dayNumber(latestAt)),
      LIFE,
      historyDay,
    ],
  ])
}

/** The provider has no row that is older and still moves money. */
const OLDEST_MS = 180 * DAY_MS

/** A lost or old head makes the sync read rows again. A head of the future makes it miss rows. */
export async function auditSyncHead(deps: StoreDeps) {
  const item = await deps.table.get(syncJobKey('head'))
  if (item === undefined) return []
  const head = ifValid(HeadSchema, item)
  if (head === undefined) return unreadableRow('sync_head', 'head')
  const { position, round, reversalsAt } = head
  const now = deps.now()
  const [oldestAt, latestAt] = [addMs(now, -OLDEST_MS), addMs(now, SKEW_MS)]
  return [
    ...rowDifferences('sync_head', 'head', headRow(head), item),
    ...brokenRules('sync_head', 'head', [
      ['position', position >= oldestAt && position <= latestAt, 'a past time', position],
      ['round', round > 0, 'one more with each round', round],
      [
        'reversals_at',
        reversalsAt >= oldestAt && reversalsAt <= addMs(latestAt, DAY_MS),
        'within a day',
        reversalsAt,
      ],
    ]),
  ]
}
