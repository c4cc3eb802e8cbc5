import type { AlarmSpec } from './alarm-spec.ts'
import { PROVIDER_OPERATIONS, providerErrorsId } from './provider-alarms.ts'

/** What wakes somebody, and once more while something else is wrong already: one of these for each who suffers. */
export type Page = { readonly id: string; readonly summary: string; readonly alarms: readonly string[] }

export const PAGES: readonly Page[] = [
  {
    id: 'page-money-in',
    summary: 'Customers cannot pay, or we do not see that they did.',
    alarms: [
      'creates-failing',
      'creates-failing-for-an-hour',
      'creates-refused',
      'money-not-moving',
      ...PROVIDER_OPERATIONS.filter(({ severity }) => severity === 'page').map(providerErrorsId),
      'api-errors',
      'requests-failing',
      'requests-refused',
      'api-crashing',
      'api-throttled',
      'callbacks-crashing',
      'callbacks-throttled',
    ],
  },
  {
    id: 'page-announcements',
    summary: 'Merchants are not told of payments.',
    alarms: [
      'announcements-slow',
      'deliveries-failing',
      'deliveries-late',
      'deliveries-crashing',
      'deliveries-throttled',
      'retries-dropped',
    ],
  },
  {
    id: 'page-due-work',
    summary: 'What gets lost is not repaired.',
    alarms: ['due-work-not-running', 'payment-checks-late', 'alerts-failing'],
  },
  {
    id: 'page-settlements',
    summary: 'Merchants are not settled, or money goes where nobody can be credited.',
    alarms: [
      'sweep-not-run',
      'settlements-failing',
      'settlements-stuck',
      'settlements-dead-not-empty',
      'suspense-flood',
    ],
  },
  {
    id: 'page-platform',
    summary: 'The table or the account refuses, or is about to.',
    alarms: ['table-reads-throttled', 'table-writes-throttled', 'table-errors', 'concurrency-near-limit'],
  },
]

/** Throws on an alarm that would wake nobody, and on one that would wake somebody although it may wait. */
export const assertPaged = (alarms: readonly Pick<AlarmSpec, 'id' | 'severity'>[]): void => {
  const listed = PAGES.flatMap((page) => page.alarms).toSorted()
  const paging = alarms.filter(({ severity }) => severity === 'page').map(({ id }) => id)
  if (listed.join() !== paging.toSorted().join()) {
    const wrong = [...listed, ...paging].filter((id, _, all) => all.filter((other) => other === id).length !== 2)
    throw new Error(`alarms that page and pages do not agree: ${[...new Set(wrong)].join(', ')}`)
  }
}
