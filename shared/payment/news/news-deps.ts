import type { Deps } from '../../deps.ts'

/** Dependencies of provider news: ask, credit, hold, announce, alert and close. */
export type NewsDeps = Pick<Deps, 'stage' | 'table' | 'provider' | 'now' | 'queues' | 'log' | 'alerts'>
