import type { Deps } from '../../deps.ts'

/** What hearing of a payment needs: it may ask the provider, credit, hold, announce, tell and close. */
export type NewsDeps = Pick<Deps, 'stage' | 'table' | 'provider' | 'now' | 'queues' | 'log' | 'alerts'>
